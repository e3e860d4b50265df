// hotwash: records sessions and gives lessons back. Written by `hotwash install opencode`; `hotwash uninstall opencode` removes it.
import { spawn, spawnSync } from "node:child_process"

const COMMAND = __COMMAND__

const payload = (fields) => JSON.stringify(fields)

/** Tell the hook about an event and wait for nothing; a failure is the hook's own to log. */
const tell = (moment, fields) => {
  try {
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), "opencode", moment], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(payload(fields))
    child.unref()
  } catch {}
}

/** Ask for lessons; "" when there are none or anything goes wrong. */
const ask = (moment, fields) => {
  try {
    const done = spawnSync(COMMAND[0], [...COMMAND.slice(1), "opencode", moment], {
      input: payload(fields),
      encoding: "utf8",
      timeout: 2000,
    })
    return done.status === 0 ? done.stdout.trim() : ""
  } catch {
    return ""
  }
}

export const Hotwash = async ({ directory }) => {
  const open = new Set()
  const packed = new Set()
  const waiting = new Map()
  const about = (session) => ({ session_id: session, cwd: directory })
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (!session) return
      if (event.type === "session.idle" || event.type === "session.error") {
        open.add(session)
        tell("turn", about(session))
      }
      if (event.type === "session.compacted") packed.delete(session)
      if (event.type === "session.deleted") {
        open.delete(session)
        tell("end", about(session))
      }
    },
    dispose: async () => {
      for (const session of open) tell("end", about(session))
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (!input.sessionID || packed.has(input.sessionID)) return
      packed.add(input.sessionID)
      const text = ask("start", about(input.sessionID))
      if (text) output.system.push(text)
    },
    "tool.execute.before": async (input, output) => {
      const text = ask("tool", { ...about(input.sessionID), tool_name: input.tool, tool_input: output.args })
      if (text) waiting.set(input.callID, text)
    },
    "tool.execute.after": async (input, output) => {
      let text = waiting.get(input.callID) ?? ""
      waiting.delete(input.callID)
      if (output.metadata?.exit) text += ask("error", { ...about(input.sessionID), error: String(output.output ?? "") })
      if (text) output.output = `${output.output ?? ""}\n\n${text}`
    },
  }
}
// hotwash: end
