"""monitoring/grafana against Grafana's own schema, its package @grafana/schema of types that are made from it.

NFX_GRAFANA_SCHEMA names a folder in which 'npm install @grafana/schema typescript' was run; without it this is skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import rules

FOLDER = os.environ.get("NFX_GRAFANA_SCHEMA", "")
# The types have enumerations; JSON has their texts. Options that are left out have defaults.
BEGIN = """import type { Dashboard, GraphFieldConfig } from '@grafana/schema';
type Json<T> = T extends string ? `${T}` : T extends (infer E)[] ? Json<E>[] : T extends object ? {[K in keyof T]: Json<T[K]>} : T;
"""


def typed(dashboard):
    """The dashboard as TypeScript, each part with the type that Grafana has for it."""
    lines = [f"export const dashboard: Json<Dashboard> = {json.dumps(dashboard)};"]
    kinds = {panel["type"] for panel in dashboard["panels"]} - {"row"}
    lines += [f"import type {{ Options as Options_{kind} }} from './{kind}';" for kind in sorted(kinds)]
    for panel in dashboard["panels"]:
        kind, number = panel["type"], panel["id"]
        if kind == "row":
            continue
        lines.append(f"export const options{number}: Json<Partial<Options_{kind}>> = {json.dumps(panel['options'])};")
        custom = panel["fieldConfig"]["defaults"].get("custom")
        if custom is not None:
            lines.append(f"export const custom{number}: Json<GraphFieldConfig> = {json.dumps(custom)};")
    return BEGIN + "\n".join(lines) + "\n", kinds


def refusals(dashboard):
    """What the compiler of TypeScript does not take."""
    text, kinds = typed(dashboard)
    modules = pathlib.Path(FOLDER).resolve() / "node_modules"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "node_modules").symlink_to(modules)
        (folder / "dashboard.ts").write_text(text, encoding="utf-8")
        for kind in kinds:
            types = modules / f"@grafana/schema/dist/types/raw/composable/{kind}/panelcfg/x/types.gen.d.ts"
            shutil.copy(types, folder / f"{kind}.d.ts")
        done = subprocess.run(
            ["node", str(modules / "typescript/bin/tsc"), "--noEmit", "--skipLibCheck", "--strict", "--module", "esnext",
             "--moduleResolution", "bundler", "--target", "es2022", "dashboard.ts"],
            cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    return done.stdout + done.stderr


class Schema(unittest.TestCase):
    def test_the_dashboard_has_the_types_of_grafana(self):
        self.assertEqual(refusals(rules.dashboard()).splitlines(), [])

    def test_mistakes_are_refused(self):
        def change(dashboard, mistake):
            panel = next(each for each in dashboard["panels"] if each["type"] == "timeseries")
            mistake(dashboard, panel)
            return dashboard

        for mistake in (lambda board, panel: board.update(schemaVersion="39"),
                        lambda board, panel: board.update(unknown=1),
                        lambda board, panel: panel["options"]["legend"].update(placement="left"),
                        lambda board, panel: panel["gridPos"].update(w="12")):
            self.assertIn("error TS", refusals(change(rules.dashboard(), mistake)))


if __name__ == "__main__":
    if not FOLDER:
        print("grafana_test: NFX_GRAFANA_SCHEMA names no folder with @grafana/schema and typescript", file=sys.stderr)
        sys.exit(77)
    unittest.main()
