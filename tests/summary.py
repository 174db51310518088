"""Sums a ctest run up by layer, and fails where a layer ran no test.

Usage: summary.py BUILD_DIR JUNIT_FILE LAYER... A layer is a label of the tests; JUNIT_FILE is what
`ctest --output-junit` wrote.
"""
import collections
import json
import subprocess
import sys
import xml.etree.ElementTree


def layers_of_tests(build):
    """{test: its labels}."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    labels = {}
    for test in json.loads(listing)["tests"]:
        values = [p["value"] for p in test["properties"] if p["name"] == "LABELS"]
        labels[test["name"]] = values[0] if values else ["without a layer"]
    return labels


def main():
    build, junit, *layers = sys.argv[1:]
    labels = layers_of_tests(build)
    counts = {layer: collections.Counter() for layer in layers}
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        # JUnit's words, from ctest: run, fail, notrun (skipped, or its program is missing).
        for layer in labels[case.get("name")]:
            counts.setdefault(layer, collections.Counter())[case.get("status")] += 1
    empty = [layer for layer in layers if not counts[layer]["run"]]
    print(f"\n{'layer':12} passed  failed  skipped")
    for layer, count in counts.items():
        print(f"{layer:12} {count['run']:6}  {count['fail']:6}  {count['notrun']:7}")
    if empty:
        sys.exit(f"no test passed in: {', '.join(empty)}")


if __name__ == "__main__":
    main()
