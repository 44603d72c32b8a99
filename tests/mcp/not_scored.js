// Prints what the conformance tests of the Model Context Protocol do not score: for each folder of a run, the
// runner's own list, the scenarios that it did not run, and the checks that neither succeed nor fail.
// toolchain/mcp-conformance writes the folders.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const read = (...parts) => fs.readFileSync(path.join(...parts), "utf8");

// The results of a scenario are in a folder with its name between "server-" and a time.
const resultName = /^server-(.+?)-\d{4}-\d\d-\d\dT/;

// unrun returns the scenarios of a suite that have no results. The runner lists each one with its versions;
// those of earlier versions alone do not belong to the suite.
function unrun(folder, title, ran) {
  if (title.includes("--scenario")) return [];
  const version = title.match(/--requirements (\S+)/)?.[1];
  const belongs = (tags) => !version || tags === "extension" || tags.includes(version);
  const reason = (tags) => (tags === "extension" ? tags : "not in the runner's default suite");
  return [...read(folder, "scenarios").matchAll(/^ +- (\S+) \[(.+)\]$/gm)]
    .filter(([, name, tags]) => !ran.has(name) && belongs(tags))
    .map(([, name, tags]) => `  not run: ${name} (${reason(tags)})`);
}

function unscored(folder) {
  const title = read(folder, "title").trim();
  const results = fs.readdirSync(path.join(folder, "results"));
  const lines = unrun(folder, title, new Set(results.map((name) => name.match(resultName)?.[1])));
  const own = read(folder, "output").match(/^Not scored for [^]*?(?=\n\n|$(?![^]))/m);
  if (own) lines.push(...own[0].trimEnd().split("\n").map((line) => "  " + line));
  for (const result of results) {
    for (const check of JSON.parse(read(folder, "results", result, "checks.json"))) {
      if (["SUCCESS", "FAILURE", "INFO"].includes(check.status)) continue;
      const reason = check.errorMessage ?? check.description;
      lines.push(`  ${check.status.toLowerCase()}: ${result.match(resultName)?.[1]}, ${check.id}: ${reason}`);
    }
  }
  return lines.length === 0 ? [] : [`not scored in the conformance tests of ${title}:`, ...lines];
}

for (const folder of process.argv.slice(2)) {
  for (const line of unscored(folder)) console.log(line);
}
