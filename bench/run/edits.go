package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// memoizers are in the order of the table.
var memoizers = []string{"larder", "joblib", "evalcache", "diskcache", "torchcache"}

// edits returns the table of edits of Python programs. Its file is bench/edits.json,
// which python3 bench/python/memo/edits.py writes.
func edits(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var e struct {
		Tools map[string]string
		Found map[string]struct {
			Edits, Same, Stale, Needless, Refused, Failed int
		}
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return "", err
	}
	var b strings.Builder
	all := e.Found["larder"]
	fmt.Fprintf(&b, "| Of %d edits | stale results | needless computations of %d that change nothing | refused | failed |\n| --- | ---: | ---: | ---: | ---: |\n", all.Edits, all.Same)
	for _, name := range memoizers {
		f := e.Found[name]
		called := name + " " + e.Tools[name]
		if name == "larder" {
			called = "Larder"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", called, f.Stale, f.Needless, f.Refused, f.Failed)
	}
	return b.String(), nil
}
