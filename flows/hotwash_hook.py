"""The one script every agent's hook runs: `python -I -S hotwash_hook.py AGENT MOMENT`.

It only finds the compiled module beside it and calls it; whatever goes wrong, the agent sees exit code 0 and nothing
on stderr. MOMENT is end, turn, start, prompt, tool, error or commit, whatever the agent itself calls the event.
"""

import sys


def run() -> None:
    """Call the module for this moment, with only this package's folder added behind the standard library."""
    agent, moment = ([*sys.argv[1:3], "", ""])[:2]
    here = __file__.replace("\\", "/").rpartition("/flows/")[0]
    sys.path.append(here)
    if moment in {"end", "turn"}:
        from flows import hook

        hook.main(agent, moment, here)
    elif moment == "commit":
        from flows import hook_commit

        hook_commit.main(agent, moment, here)
    else:
        from flows import hook_recall

        hook_recall.main(agent, moment, here)


if __name__ == "__main__":
    try:  # noqa: SIM105  contextlib would cost more than the hook
        run()
    except BaseException:  # noqa: S110  an agent must never see a hook fail
        pass
