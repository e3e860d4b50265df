"""The look of the report page: one style sheet, light and dark."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #23272b; --soft: #66707a; --line: #e3e1dc; --accent: #1f6f78;
  --teal: #2a8c82; --rust: #cf6a3c; --blue: #4a78b5; --green: #4f9a5b; --grey: #b3b8bd; --red: #c2453d;
  --amber: #dba73a;
  --warn: #fdf3dc; --warn-ink: #7a5406;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16191c; --card: #1e2327; --ink: #e4e6e7; --soft: #9aa4ac; --line: #323a40; --accent: #6cc3cb;
    --teal: #45aea3; --rust: #e0845a; --blue: #76a1da; --green: #72b97d; --grey: #66717a; --red: #e2716a;
    --amber: #e3b75a;
    --warn: #362d18; --warn-ink: #ecca83;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 36px; }
h1 { font-size: 27px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 18px; margin: 0 0 2px; }
p { margin: 4px 0 12px; }
.soft, footer, .about { color: var(--soft); }
.about { font-size: 13.5px; max-width: 78ch; }
code { font: 12.5px/1.4 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
nav { margin: 16px 0 0; font-size: 13.5px; display: flex; flex-wrap: wrap; gap: 4px 16px; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(122px, 1fr)); gap: 12px; margin: 22px 0; }
.tile, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tile { padding: 13px 16px; }
.tile b { display: block; font-size: 21px; white-space: nowrap; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
.tile.warn { background: var(--warn); } .tile.warn b, .tile.warn span { color: var(--warn-ink); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); gap: 16px; }
.pair, section.single { margin-bottom: 16px; }
section { padding: 18px 20px; min-width: 0; }
svg { display: block; width: 100%; height: auto; max-width: 620px; }
.tick { font-size: 11.5px; fill: var(--soft); } .label { font-size: 13px; fill: var(--ink); }
.grid { stroke: var(--line); stroke-width: 1; }
.teal { fill: var(--teal); background: var(--teal); } .rust { fill: var(--rust); background: var(--rust); }
.blue { fill: var(--blue); background: var(--blue); } .green { fill: var(--green); background: var(--green); }
.grey { fill: var(--grey); background: var(--grey); } .red { fill: var(--red); background: var(--red); }
.amber { fill: var(--amber); background: var(--amber); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0;
  margin: 8px 0 6px; font-size: 13px; }
.key { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12.5px; white-space: nowrap; }
th, td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.day { white-space: nowrap; }
td.long { min-width: 240px; } .pair td.long { min-width: 130px; }
td:not(.long) { overflow-wrap: normal; }
bdi { unicode-bidi: isolate; }
.none { color: var(--soft); font-style: italic; margin: 8px 0; }
footer { padding: 10px 24px 40px; font-size: 13px; }
@media (max-width: 640px) { td.long { min-width: 130px; } .tile { padding: 12px; } }
@media print { section, .tile { break-inside: avoid; } nav { display: none; } }
"""
