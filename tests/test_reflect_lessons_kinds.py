"""Short stories of many kinds, each with the title that its next reader should see, or none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from detectors.registry import detect_episodes
from index.records import Solution, Turn
from reflect.lessons import write_lessons
from tests.recorded import agent, edit, person, refused, run, session, tool

STORIES: dict[str, tuple[list[Turn], str]] = {
    "a port that another program holds": (
        [
            run("docker compose up -d", "Error: Bind for 0.0.0.0:5432 failed: port is already allocated", failed=True),
            agent("Port 5432 is taken by the local database."),
            run("brew services stop postgresql", "ok"),
            run("docker compose up -d", "started"),
        ],
        "Run `brew services stop postgresql` when `docker compose up -d` says",
    ),
    "a file that had to be put in place": (
        [
            run("python manage.py migrate", "ImproperlyConfigured: SECRET_KEY must not be empty", failed=True),
            agent("The settings read `SECRET_KEY` from `.env`, which is missing in this worktree."),
            run("cp ../main/.env .env", ""),
            run("python manage.py migrate", "OK"),
        ],
        "Run `cp ../main/.env .env` when `python manage.py migrate` says",
    ),
    "a command that needs other options": (
        [
            run('psql -c "select 1"', "psql: error: connection to server on socket failed", failed=True),
            agent("The server listens on `localhost:5433`, not on the socket."),
            run('psql -h localhost -p 5433 -c "select 1"', "1"),
        ],
        'Run `psql -h localhost -p 5433 -c "select 1"`, not `psql -c "select 1"`',
    ),
    "a type error whose cause was told": (
        [
            run("npx tsc --noEmit", "src/f.ts(12,5): error TS2345: Argument of type 'undefined'", failed=True),
            agent("The query may be undefined, so `parseFilter` has to accept `undefined`."),
            edit("src/f.ts", "parseFilter(q: string)", "parseFilter(q?: string)"),
            run("npx tsc --noEmit", ""),
        ],
        "`parseFilter` has to accept `undefined`",
    ),
    "a tool that is not there": (
        [run("shellcheck run.sh", "zsh:1: command not found: shellcheck", failed=True), agent("Moving on.")],
        "Do without `shellcheck` here",
    ),
    "a call that wants another one first": (
        [tool("publish", "Run validate first. Checks must pass.", failed=True), agent("Let me see.")],
        "Run `validate` before `publish`",
    ),
    "a sandbox that had to be left": (
        [
            run("git fetch", "error: cannot open '.git/FETCH_HEAD': Operation not permitted", failed=True),
            run("git fetch", "ok"),
        ],
        "Run `git fetch` outside the sandbox, with permission",
    ),
    "a rule of the house": (
        [person("install zod"), run("npm install zod", "added"), person("No, we use pnpm here, not npm")],
        "Use pnpm here, not npm",
    ),
    "a plan turned down": (
        [
            agent("I propose a new layer."),
            replace(refused("plan.md", "Too complicated. Use the repository in `db/repo.py` instead."), action="other"),
            agent("You're right."),
        ],
        "Use the repository in `db/repo.py` instead",
    ),
    "a German session": (
        [
            run("pytest", "E   KeyError: 'preis'", failed=True),
            agent("Das Problem ist, dass `preis` fehlt. Wir müssen `preis` in `fixtures.json` ergänzen."),
            edit("tests/fixtures.json", "", '"preis": 3'),
            run("pytest", "4 passed"),
        ],
        "Wir müssen `preis` in `fixtures.json` ergänzen",
    ),
    "a Chinese session": (
        [
            person("写类型"),
            edit("a.ts", "", "x: any"),
            person("不要用 any，用 unknown"),
            agent("好的，改用 `unknown`。"),
            edit("a.ts", "x: any", "x: unknown"),
        ],
        "不要用 any，用 unknown",
    ),
    "a build whose banner says nothing": (
        [
            run(
                "docker build .",
                "npm ERR! code 1\n#9 3.2 Error: Could not find any Python\nERROR: failed to solve: "
                'process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
                failed=True,
            ),
            agent("`bcrypt` is compiled with node-gyp, which needs Python. I'll install `python3` in the build stage."),
            edit("Dockerfile", "RUN npm ci", "RUN apk add python3 && npm ci"),
            run("docker build .", "done"),
        ],
        "Install `python3` in the build stage",
    ),
    "a race, with the cause told before the fix": (
        [
            run("go test -race ./...", "fatal error: concurrent map writes", failed=True),
            agent("The real cause: `Get` writes to `items` under `RLock()` when it evicts, so two writes meet."),
            edit("cache.go", "c.mu.RLock()", "c.mu.Lock()"),
            run("go test -race ./...", "ok"),
        ],
        "Write `c.mu.Lock()`, not `c.mu.RLock()`: `Get` writes to `items`",
    ),
    "an approach tried and taken back": (
        [
            agent("I'll stub `window` in the server entry."),
            edit("src/entry.ts", "", "globalThis.window = {}"),
            run("pnpm build", "ReferenceError: navigator is not defined", failed=True),
            agent(
                "That didn't work: stubbing `window` only moves the error to `navigator`. I'll revert this and load "
                "the map with `import('leaflet')` in `onMount` instead."
            ),
            run("git checkout -- src/entry.ts", ""),
            edit("src/Map.svelte", "import L from 'leaflet'", "const L = await import('leaflet')"),
            run("pnpm build", "built"),
        ],
        "Load the map with `import('leaflet')` in `onMount` instead",
    ),
    "an approach that was too slow": (
        [
            agent("I'll parse the rows in `Pool.map`."),
            edit("rows.py", "parse(r)", "pool.map(parse, rows)"),
            run("hyperfine ./importer", "14.8 s"),
            agent(
                "It is slower: pickling a row costs more than `parse`. Going back to the loop and caching `strptime`."
            ),
            run("git restore rows.py", ""),
        ],
        "Cache `strptime`",
    ),
    "a choice of the person": (
        [
            agent("Use references or sources?"),
            person("let's go with references because sources break the storybook build"),
        ],
        "Use references: sources break the storybook build",
    ),
    "a person's preference with its reason": (
        [person("we use Testcontainers rather than H2 since H2 accepts SQL that Postgres refuses")],
        "Use Testcontainers rather than H2: H2 accepts SQL that Postgres refuses",
    ),
    "PowerShell that knows no &&": (
        [
            run(
                "npm i && npm run b",
                "The token '&&' is not a valid statement separator in this version.\n"
                "    + FullyQualifiedErrorId : InvalidEndOfLine",
                failed=True,
            ),
            run("npm i; npm run b", "built"),
        ],
        "Separate commands with `;`, not `&&`",
    ),
    "scripts that a policy stops": (
        [
            run(
                r".\seed.ps1",
                r"File C:\seed.ps1 cannot be loaded because running scripts is disabled on this system.",
                True,
            ),
            agent("The policy blocks scripts. I'll run it with `-ExecutionPolicy Bypass` for this process only."),
            run(r"powershell -ExecutionPolicy Bypass -File .\seed.ps1", "seeded"),
        ],
        "Run `powershell -ExecutionPolicy Bypass -File .\\seed.ps1`, not `.\\seed.ps1`",
    ),
    "an option of another system": (
        [run("sed -n 1p a | cat -A", "cat: illegal option -- A\nusage: cat [-belnstuv]", failed=True)],
        "Do not pass `-A` to `cat` on this machine",
    ),
    "an argument that is not accepted": (
        [
            run(
                "gh api graphql -f query='{ body(truncate: 9) }'",
                "Field 'body' doesn't accept argument 'truncate'",
                True,
            ),
            run("gh api graphql -f query='{ body }'", "{}"),
        ],
        "Leave out `truncate`",
    ),
    "a linter's rule by its number": (
        [
            run(
                "git commit -m x",
                "a.md:26 error MD040/fenced-code-language Fenced code blocks should have a language "
                "specified [Context: x]",
                failed=True,
            ),
            edit("a.md", "```", "```text"),
            run("git commit -m x", "ok"),
        ],
        "Fenced code blocks should have a language specified (`MD040`)",
    ),
    "a tool server's error within its record": (
        [
            tool(
                "sql",
                'error for call: {"sql":"a; b"} with response: [{"response":{"content":[{"type":"text","text":'
                '"ERROR: cannot insert multiple commands into a prepared statement"}],"isError":true}}]',
                "mcp",
                True,
            ),
            agent(
                "I will create the `shop` schema and its tables in separate calls, since one call takes one statement."
            ),
            tool("sql", "ok", "mcp"),
        ],
        "Create the `shop` schema and its tables in separate calls",
    ),
    "a service that was started in the end": (
        [
            run("redis-cli ping", "Could not connect to Redis at 127.0.0.1:6379: Connection refused", failed=True),
            agent("Redis isn't running here."),
            run("redis-cli ping", "Could not connect to Redis at 127.0.0.1:6379: Connection refused", failed=True),
            edit("q.py", "a = 1", "a = 2"),
            run("docker compose up -d redis", "Started"),
            run("redis-cli ping", "PONG"),
        ],
        "Run `docker compose up -d redis` when `redis-cli ping` says",
    ),
    "a wrong guess put back": (
        [
            person("the pods fail to come up"),
            edit("w.yaml", "image: w:2", "image: w:1"),
            run("kubectl apply -f w.yaml", "error: timed out waiting for the condition", failed=True),
            agent("Turns out the tag was fine: the namespace has no `regcred` secret. I'll add `imagePullSecrets`."),
            edit("w.yaml", "image: w:1", "image: w:2"),
            edit("w.yaml", "spec:", "spec:\n  imagePullSecrets: [regcred]"),
            run("kubectl apply -f w.yaml", "ok"),
        ],
        "Add `imagePullSecrets`",
    ),
}
STORIES |= {
    "a release that hangs in between": (
        [
            run("helm upgrade shop .", "Error: UPGRADE FAILED: another operation is in progress", failed=True),
            agent("I need to roll back to revision 7 before another upgrade is possible."),
            run("helm rollback shop 7", "ok"),
            run("helm upgrade shop .", "upgraded"),
        ],
        "Run `helm rollback shop 7` when `helm upgrade shop .` says",
    ),
    "a need told in so many words": (
        [
            run("make r", "src/gl.cpp:88:12: error: 'glBind' was not declared in this scope", failed=True),
            agent(
                "On Linux `glBind` only comes from a loader. We vendor `glad`, so the include has to be "
                "`<glad/glad.h>`."
            ),
            edit("src/gl.cpp", "#include <GL/gl.h>", "#include <glad/glad.h>"),
            run("make r", "built"),
        ],
        "The include has to be `<glad/glad.h>`",
    ),
    "a lock file out of step": (
        [
            run("poetry install", "pyproject.toml changed significantly since poetry.lock was last generated.", True),
            run("poetry lock", "ok"),
            run("poetry install", "ok"),
        ],
        "Run `poetry lock` when `poetry install` says",
    ),
    "an error within a task runner's record": (
        [
            run("ansible-playbook site.yml", 'fatal: [s1]: FAILED! => {"msg": "Missing sudo password"}', failed=True),
            agent("The inventory has to set `ansible_become_password` from the vault."),
            run("ansible-playbook site.yml -e @vault.yml", "ok"),
        ],
        "The inventory has to set `ansible_become_password` from the vault",
    ),
    "a port that is given away": (
        [
            run("docker compose up -d", "Error: listen tcp 0.0.0.0:5432: bind: address already in use", failed=True),
            agent(
                "Port 5432 is in use by the local Postgres. I'll map the container to 5433 instead of stopping it, "
                "since other projects use it."
            ),
            edit("override.yml", "5432:5432", "5433:5432"),
            run("docker compose up -d", "started"),
        ],
        "Map the container to 5433 instead of stopping it, since other projects use it",
    ),
    "an approach that the person takes back": (
        [
            agent("I'll move the `Room` set-up to a coroutine."),
            edit("App.kt", "db = build()", "launch { db = build() }"),
            person("revert this approach. `WidgetProvider` reads `db` before the coroutine is done and crashes"),
            run("git checkout -- App.kt", ""),
        ],
        "Do not move the `Room` set-up to a coroutine",
    ),
    "a script with the wrong line ends": (
        [
            run("./release.sh", "./release.sh: line 5: syntax error near unexpected token `elif'", failed=True),
            agent("The script has CRLF line ends."),
            run("sed -i 's/x$//' release.sh", ""),
            run("./release.sh", "tagged"),
        ],
        "Run `sed -i 's/x$//' release.sh` when `./release.sh` says",
    ),
    "a question that turns the way down": (
        [
            edit("report.py", "", "cache = {}"),
            person("why a dict? we have three workers, each has its own. use the redis client in api/cache.py"),
            agent("Good point."),
            edit("report.py", "cache = {}", "from api.cache import redis_cache"),
        ],
        "Use the redis client in api/cache.py",
    ),
    "a second diagnosis that the person confirms": (
        [
            person("the list flickers"),
            agent("The problem was `key={Math.random()}`: each row is mounted anew."),
            edit("list.tsx", "key={Math.random()}", "key={item.id}"),
            person("no, still flickers"),
            agent("Then it's the query: `useQuery` has no `placeholderData`. I'll set `placeholderData: keepData`."),
            edit("list.tsx", "useQuery({ key })", "useQuery({ key, placeholderData: keepData })"),
            person("yes that fixed it"),
        ],
        "Set `placeholderData: keepData`",
    ),
    "a folder from which it runs": (
        [
            run("npx playwright test", "Error: No tests found.", failed=True),
            agent("The Playwright config is in `apps/web`, so the tests only run from there."),
            run("cd apps/web && npx playwright test", "12 passed"),
        ],
        "Run `cd apps/web && npx playwright test`, not `npx playwright test`",
    ),
    "a rule of a linter, with nothing said": (
        [
            run(
                "make lint", "api.go:40:2: missing cases in switch of type api.Kind: api.Gone (exhaustive)", failed=True
            ),
            edit("api.go", "switch k {\ncase New:\n}", "switch k {\ncase New:\ncase Gone:\n\treturn nil\n}"),
            run("make lint", "0 issues"),
        ],
        "Keep to `exhaustive`: missing cases in switch of type api.Kind",
    ),
    "a fault that a test found in code just written": (
        [
            edit("slug.py", "", 'return re.sub("[^a-z]", "-", title)'),
            edit("tests/test_slug.py", "", 'assert slug("a  b") == "a-b"'),
            run("pytest", "E   AssertionError: assert 'a--b' == 'a-b'", failed=True),
            agent("It fails because `re.sub` replaces each blank alone. I need to replace runs with `[^a-z]+`."),
            edit("slug.py", 'return re.sub("[^a-z]", "-", title)', 'return re.sub("[^a-z]+", "-", title)'),
            run("pytest", "4 passed"),
        ],
        "Replace runs with `[^a-z]+`",
    ),
    "a version that the project asks for": (
        [
            run(
                "npm ci", "npm WARN EBADENGINE required: { node: '>=20' },\n current: { node: 'v16.3.0' }", failed=True
            ),
            agent("Leaving it."),
        ],
        "Use node `>=20` for this project: this shell has `v16.3.0`",
    ),
    "a report answered with a remedy and its reason": (
        [
            person("the export only has the first page of orders"),
            agent("I'll use `paginate_all()` which follows the `next` links."),
            edit("export.py", "orders = client.page()", "orders = client.paginate_all()"),
            agent("Done."),
        ],
        "Use `paginate_all()` which follows the `next` links",
    ),
    "a comment of a review that the agent looked up": (
        [
            person("there is a comment on the PR, address it if it applies"),
            agent("Confirmed: the regex uses `$&`, so the secret is logged. Switching to `$1***` fixes it."),
            edit("log.ts", "replace(SECRET, '$&=***')", "replace(SECRET, '$1***')"),
            agent("Pushed."),
        ],
        "Switch to `$1***`",
    ),
    "an agent that speaks only when it is done": (
        [
            person("the total is wrong after a refund: Error: total is NaN"),
            edit("cart.ts", "let sum", "let sum = 0"),
            agent(
                "Fixed the NaN in the cart's total by declaring `sum` as 0 before refunds are taken off (`cart.ts:12`)."
            ),
            person("thanks"),
        ],
        "Declare `sum` as 0 before refunds are taken off",
    ),
    "a command that the person found to work": (
        [
            person("the window does not open"),
            agent("Try `DISPLAY=:1 shop-gui`."),
            person("OK, this worked: GDK_BACKEND=x11 shop-gui"),
            agent("Good. Forcing `x11` avoids the Wayland backend, which has no tray here."),
        ],
        "Run `GDK_BACKEND=x11 shop-gui`: Forcing `x11` avoids the Wayland backend",
    ),
    "a pasted log whose cause the agent explains": (
        [
            person("CI is red:\n\nerror: cannot build `clock v0.3`, it wants a newer compiler"),
            agent("CI pins `toolchain.toml` to 1.70, but `clock` requires 1.80. I'll bump `toolchain.toml` to 1.80."),
            edit("toolchain.toml", 'channel = "1.70"', 'channel = "1.80"'),
        ],
        "Bump `toolchain.toml` to 1.80",
    ),
    "a cause told only at the end": (
        [
            person("the deploy script hangs at the migration step, please fix"),
            edit("deploy.sh", "./migrate", "./migrate --yes"),
            agent("It hung because `./migrate` asks when stdin is a terminal. I pass `--yes` in `deploy.sh` now."),
        ],
        "Pass `--yes` in `deploy.sh`",
    ),
    "a verb that no list holds": (
        [
            person("export the orders"),
            edit("export.py", "", "return csv(rows)"),
            agent("Added."),
            person("shouldn't this go through the queue like the other exports? some have millions of rows"),
            agent("Good point. Large ones would hold up the web worker, so I'll shelve `csv()` for `export_job`."),
            edit("export.py", "return csv(rows)", "return later(export_job)"),
        ],
        "Shelve `csv()` for `export_job`",
    ),
    "a hook that says what it wants": (
        [
            run('git commit -m "x"', "✖   subject may not be empty [subject-empty]", failed=True),
            agent("The hook wants conventional commits."),
            run('git commit -m "fix: x"', "1 file changed"),
        ],
        "Subject may not be empty [subject-empty] (`git commit`)",
    ),
    "an order that points back, told with its cause": (
        [
            run("pytest -x", "FAILED test_orders - IntegrityError: duplicate key", failed=True),
            agent("`test_users` commits, so its rows leak into the next test. I'll switch it to the `db` fixture."),
            edit("tests/test_users.py", "session.commit()", "db.flush()"),
            run("pytest -x", "44 passed"),
        ],
        "Switch it to the `db` fixture: `test_users` commits",
    ),
    "a change that the person takes back for a reason": (
        [
            agent("I'll raise react to 19."),
            edit("package.json", '"react": "18"', '"react": "19"'),
            agent("Raised."),
            person("revert that, we have to stay on 18 until the design system supports 19"),
            agent("Done."),
            edit("package.json", '"react": "19"', '"react": "18"'),
        ],
        "Stay on 18 until the design system supports 19",
    ),
    "what does it, named first": (
        [
            run("manage.py migrate", "OperationalError: canceling statement due to lock timeout", failed=True),
            agent("The index waits for the table lock. `AddIndexConcurrently` with `atomic = False` avoids it."),
            edit("migrations/0042.py", "AddIndex(", "AddIndexConcurrently("),
            run("manage.py migrate", "OK"),
        ],
        "Use `AddIndexConcurrently` with `atomic = False`",
    ),
    "where something comes from": (
        [
            person("fix the flicker in the sidebar"),
            edit("Sidebar.tsx", "const x = useState()", "const x = useLayoutEffect()"),
            agent(
                "The flicker came from `useEffect`, which runs after paint. Moved the measuring to `useLayoutEffect`."
            ),
        ],
        "Move the measuring to `useLayoutEffect`",
    ),
    "a file that is generated": (
        [
            agent("I'll edit the client."),
            edit("gen/client.ts", "a", "b"),
            person("gen/ is generated from openapi.yaml, change it there and run make gen"),
            agent("Right, I'll update `openapi.yaml` and regenerate."),
            edit("openapi.yaml", "a", "b"),
        ],
        "Update `openapi.yaml` and regenerate",
    ),
    "an observation that the agent grants": (
        [
            agent("The tax is shown."),
            person("taxLabel is not used it seems?"),
            agent(
                "You're right! `taxLabel` is defined in the theme but never used. I'll pass `taxLabel` to the receipt."
            ),
            edit("receipt.ts", "label: ''", "label: theme.taxLabel"),
        ],
        "Pass `taxLabel` to the receipt",
    ),
    "a ban with what a part should do": (
        [
            agent("I'll print the error in `loadPlugin`."),
            edit("plugin.ts", "", "console.log(error)"),
            person("no console logs! loadPlugin should return an error that the caller can show"),
            agent("You're right."),
            edit("plugin.ts", "console.log(error)", "return { error }"),
        ],
        "No console logs; loadPlugin should return an error that the caller can show",
    ),
    "a rule above a pasted trace": (
        [
            person(
                "it exploded on start. broken plugins must NEVER crash the app\nTypeError: x\n"
                + "    at load (a.ts)\n" * 60
            ),
            agent("Looking."),
        ],
        "Broken plugins must NEVER crash the app",
    ),
    "a choice with its reason in the next sentence": (
        [
            agent("Kafka or Redis streams?"),
            person("let's go with Redis streams. Kafka is overkill for one worker."),
        ],
        "Use Redis streams: Kafka is overkill for one worker",
    ),
    "an agent's choice that the person agreed to": (
        [
            agent("I'd use `pg-boss` instead of BullMQ because we already run Postgres."),
            person("agreed"),
            edit("queue.ts", "", "import PgBoss from 'pg-boss'"),
        ],
        "Use `pg-boss` instead of BullMQ because we already run Postgres",
    ),
}
QUIET: dict[str, list[Turn]] = {
    "a slip of the last edit": [
        edit("cache.go", "", "e := c.itms[key]"),
        run("go test ./...", "cache.go:43:9: c.itms undefined (type *Cache has no field itms)", failed=True),
        agent("Typo."),
        edit("cache.go", "e := c.itms[key]", "e := c.items[key]"),
        run("go test ./...", "ok"),
    ],
    "a finding of layout": [
        run("ruff check .", "a.py:1:1: F401 [*] `os` imported but unused", failed=True),
        edit("a.py", "import os", ""),
        run("ruff check .", "ok"),
    ],
    "a test written first, whose code is not there yet": [
        edit("cart.py", "", "def total(): ..."),
        edit("tests/test_cart.py", "", "assert tax(1) == 2"),
        run("pytest", "E   NameError: name 'tax' is not defined", failed=True),
        agent("It fails because `tax` is not implemented yet."),
        edit("cart.py", "", "def tax(x): return 2 * x"),
        run("pytest", "4 passed"),
    ],
    "praise for what worked": [
        person("that worked: great, now let's look at the docs"),
        agent("Good, because `docs` is next."),
    ],
    "a choice without a reason": [person("let's go with Redis streams. Then the docs."), agent("OK.")],
    "a report without a remedy": [
        person("the export only has the first page"),
        agent("Let me look at `export.py`, which has it."),
        edit("export.py", "a = 1", "a = 2"),
    ],
    "a refusal for the moment": [
        replace(
            refused("a", "not now, I'm still reviewing"), action="shell", command="kubectl apply -f p.yaml", paths=()
        ),
        agent("OK, waiting."),
    ],
    "the rest of a renaming": [
        edit("user.ts", "class User", "class Account"),
        run("npx tsc", "a.ts(1,10): error TS2305: Module './user' has no exported member 'User'.", failed=True),
        agent("The imports still name `User` because only the class was renamed, so I need to import `Account`."),
        edit("a.ts", "import { User }", "import { Account }"),
        run("npx tsc", ""),
    ],
    "a program typed wrong": [
        run("gti status", "bash: gti: command not found", failed=True),
        run("git status", "clean"),
    ],
    "edits that have nothing to do with a service": [
        run("redis-cli ping", "Could not connect to Redis: Connection refused", failed=True),
        agent("I need to rename `total` in `q.py` because it shadows the builtin."),
        edit("q.py", "sum = 1", "total = 1"),
        run("redis-cli ping", "PONG"),
    ],
    "a question": [
        person("add it"),
        edit("a.py", "", "x"),
        person("i don't think it works correctly, it should be dimmer"),
        agent("Let me check `a.py`."),
    ],
    "a mistyped word": [
        run("npm run buidl", "npm ERR! Missing script: buidl", failed=True),
        run("npm run build", "ok"),
    ],
    "a flake": [run("npm test", "Error: timeout of 2000ms exceeded", failed=True), run("npm test", "ok")],
    "a wrong path": [
        run("pytest test/a.py", "ERROR: file or directory not found: No such file or directory", failed=True),
        run("pytest tests/a.py", "ok"),
    ],
    "praise and the next step": [
        person("add it"),
        edit("a.py", "", "x"),
        person("Great, but now also add the other one, not only this"),
        agent("Got it."),
    ],
    "an approach the person turned down": [
        run("go test ./...", "a.go:1:1: undefined: Foo", failed=True),
        agent("I need to use the helper instead of `Foo` because it is shorter."),
        replace(refused("a.go"), said=""),
        edit("a.go", "x", "y"),
        run("go test ./...", "ok"),
    ],
}


@pytest.mark.parametrize("story", STORIES)
def test_a_story_gets_its_title(story: str) -> None:
    """One lesson, and its title begins as it should."""
    turns, title = STORIES[story]
    made = session(*turns)
    titles = [lesson.title for lesson in write_lessons(made, detect_episodes(made))]
    assert len(titles) == 1
    assert titles[0].startswith(title)


@pytest.mark.parametrize("story", QUIET)
def test_a_quiet_story_gets_none(story: str) -> None:
    """Typos, flakes, wrong paths, praise and refuted approaches are nothing to keep."""
    made = session(*QUIET[story])
    assert write_lessons(made, detect_episodes(made)) == ()


def written(*turns: Turn) -> list[Solution]:
    """What a session of these turns teaches."""
    made = session(*turns)
    return list(write_lessons(made, detect_episodes(made)))


def test_an_unrelated_success_is_no_way_round() -> None:
    """What merely went through next is not what to do in place of a program that is not there."""
    (lesson,) = written(
        run("vale docs/", "zsh: command not found: vale", failed=True),
        agent("`vale` isn't installed. I'll look at the tests meanwhile."),
        run("npm test", "ok"),
    )
    assert "npm test" not in lesson.body
    assert "`vale`" in lesson.title


def test_what_stands_in_for_a_missing_program_is_told() -> None:
    """A program that does the same by its name."""
    (lesson,) = written(
        run("rg -n total src", "zsh: command not found: rg", failed=True),
        run("git log --oneline", "abc"),
        run("grep -rn total src", "src/a.py:1"),
    )
    assert lesson.title.startswith("Use `grep -rn total src` in place of `rg` here")


def test_an_edit_that_puts_a_file_back_is_no_part_of_the_fix() -> None:
    """The wrong guess and its return are not told; what was added is."""
    turns, _ = STORIES["a wrong guess put back"]
    (lesson,) = written(*turns)
    assert "image: w" not in lesson.body
    assert "imagePullSecrets: [regcred]" in lesson.body


def test_a_ban_keeps_its_reason_and_fires_before_the_command() -> None:
    """The sentence after the ban is why; the command in it is a trigger."""
    call = replace(
        refused("x", "Never run terraform force-unlock here. CI holds the lock while it applies; wait for it.")
    )
    call = replace(call, action="shell", command="terraform force-unlock -force 1f4b", paths=(), change="", tool="Bash")
    (lesson,) = written(agent("The state is locked. I'll unlock it."), call, agent("Got it."))
    assert "**Why it matters:** CI holds the lock while it applies." in lesson.body
    assert "**Instead:** Wait for it." in lesson.body
    assert lesson.triggers.commands == ("terraform force-unlock",)


def test_what_was_overruled_later_is_not_kept() -> None:
    """Of two orders about one thing the later stands, a person's as well as the agent's."""
    (lesson,) = written(
        edit("date.ts", "", "import moment"),
        person("no, don't use moment, use dayjs instead, moment is deprecated"),
        agent("You're right."),
        edit("date.ts", "import moment", "import dayjs"),
        person("hmm, forget dayjs. Use date-fns instead of dayjs, one date library is enough"),
        agent("Good point."),
        edit("date.ts", "import dayjs", "import format"),
    )
    assert lesson.title == "Use date-fns instead of dayjs: one date library is enough"


def test_a_fix_after_which_the_error_came_back_is_none() -> None:
    """What was done before another run with the same error was no fix."""
    failing = run("make docs", "Error: cannot find the theme `plain`", failed=True)
    lessons = written(
        failing,
        run("npm install", "ok"),
        run("make docs", "Error: unknown option `--fast`", failed=True),
        failing,
        agent("The theme is looked up by its full name."),
        edit("docs.yml", "theme: plain", "theme: '@acme/plain'"),
        run("make docs", "ok"),
    )
    assert all("npm install" not in lesson.title for lesson in lessons)


def test_a_why_says_what_happens_otherwise() -> None:
    """The failure itself, how often it came, or what waits for the command; never an empty phrase."""
    for turns, _ in STORIES.values():
        for lesson in written(*turns):
            why = lesson.body.split("**Why it matters:** ")[1].split("\n")[0]
            assert len(why) > 15
            assert "does not pass until it is done" not in why
            assert not lesson.title.startswith("Keep in mind")


def test_nothing_is_said_three_times() -> None:
    """A person's sentence stands once as it was said, and is taken apart elsewhere."""
    (lesson,) = written(
        person("never put secrets in build args, use --mount=type=secret because args end up in the history"),
    )
    assert lesson.title == "Never put secrets in build args; use --mount=type=secret"
    assert "**Instead:** Use --mount=type=secret." in lesson.body
    assert lesson.body.count("in the history") == 2


def test_a_forbidden_program_is_a_trigger_by_its_bare_name() -> None:
    """What a person forbade fires before any use of it; what stands in code beside it is what to use."""
    (lesson,) = written(
        run("npm install lodash", "added"),
        person("don't use npm in this repo, it's a bun workspace. `bun add` please"),
        agent("Sorry, I'll redo it."),
    )
    assert lesson.title == "Don't use npm in this repo; use `bun add`"
    assert lesson.triggers.commands == ("npm",)


def test_the_same_check_in_another_folder_clears_the_way() -> None:
    """The build of the package that is imported, found where the first output was cut."""
    (lesson,) = written(
        run("cd packages/app && npm run build 2>&1 | tail -1", "npm error command failed", failed=True),
        run(
            "cd packages/app && npx tsc | grep error", "theme.ts(4,3): error TS2353: 'link' does not exist in type 'T'."
        ),
        agent("The type comes from the other package, which has to be rebuilt first."),
        run("cd packages/ui && npm run build", "done"),
        run("cd packages/app && npm run build 2>&1 | tail -1", "done"),
    )
    assert "cd packages/ui && npm run build" in lesson.body
    assert "TS2353" in lesson.title


def test_a_new_name_is_told_though_only_a_test_had_the_old_one() -> None:
    """A test that was merely wrong is not."""
    failed = run("go test ./...", "a_test.go:30: acme/sessions branch should exist after the run", failed=True)
    told = agent("The branch was renamed from `acme/sessions` to `acme/points`; `paths.BranchName` holds it.")
    fixed = edit("a_test.go", 'Exists("acme/sessions")', "Exists(paths.BranchName)")
    (lesson,) = written(failed, told, fixed, run("go test ./...", "ok"))
    assert "paths.BranchName" in lesson.title


def test_words_of_another_error_are_no_fix() -> None:
    """Far behind a failure, an order that names nothing of it is the fix of something else."""
    failed = run(
        "npm run check", "chat.ts(2,1): error TS2739: Type 'A' lacks the properties of 'ListTheme'", failed=True
    )
    looks = [run(f"sed -n {at},9p chat.ts", "text") for at in range(22)]
    told = agent("The parser needs two more parameters, so I'll pass `styleOf` to `Markdown`.")
    changed = edit("chat.ts", "new Markdown(a)", "new Markdown(a, styleOf)")
    assert not written(failed, *looks, told, changed, run("npm run check", "ok"))


def test_a_guess_that_nobody_confirmed_is_none() -> None:
    """The cause in guarded words, with debug lines written for it; told outright, or confirmed, it is one."""
    report = person("any idea why the colors differ, is that wrong?")
    debug = edit("theme.ts", "", "debug(`detectMode`)")
    guess = agent("The issue is likely that `detectMode` returns 256 colours, so I need to set `detectMode` first.")
    assert not written(report, guess, debug)
    assert written(report, guess, debug, person("yes, it works now"))


def test_a_dependency_that_was_added_once_is_nothing_to_keep() -> None:
    """The error names it, the manifest has it from then on; an install of all that is listed is another thing."""
    failed = run(
        "go build ./...", "main.go:9:2: no required module provides package example.org/met; to add it:", failed=True
    )
    assert not written(failed, run("go get example.org/met", "added"), run("go build ./...", ""))
    missing = run("npm test", "Error: Cannot find module 'zod'", failed=True)
    assert written(missing, run("npm install", "added 12"), run("npm test", "ok"))


def test_a_check_given_what_it_lacked_is_not_another_program() -> None:
    """The same check with something before it stands in for nothing."""
    (lesson,) = written(
        run("make test", "/bin/sh: 1: pytest: not found", failed=True),
        agent("`pytest` is only in the virtual environment, which the Makefile expects to be active."),
        run(". .venv/bin/activate && make test", "40 passed"),
    )
    assert "in place of" not in lesson.title
    assert ". .venv/bin/activate && make test" in lesson.body
