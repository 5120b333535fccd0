package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// edits are what became of edits of programs in Python: bench/edits.json, which
// python3 bench/python/memo/edits.py writes.
type edits struct {
	Python string            `json:"python"`
	Tools  map[string]string `json:"tools"`
	Found  map[string]struct {
		Edits, Same, Stale, Needless, Refused, Failed int
	} `json:"found"`
}

// contestants are the memoizers, in the order of the table.
var contestants = []string{"larder", "joblib", "evalcache", "diskcache", "torchcache"}

// renderEdits appends the table of edits.
func renderEdits(b *bytes.Buffer, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var e edits
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	same := e.Found["larder"].Same
	fmt.Fprintf(b, "\n## Edits of programs in Python\n\nEach edit is made between two runs of a program, in processes of their own with one cache: of functions, what they call, constants, classes, decorators, modules, settings and libraries. A result is stale where the second run computes nothing and a run without a cache gives another one. `python3 bench/python/memo/edits.py`, Python %s; torchcache keeps tensors of functions alone, and is given the texts of results as such.\n\n", e.Python)
	fmt.Fprintf(b, "| Of %d edits | stale results | needless computations of %d that change nothing | refused | failed |\n| --- | ---: | ---: | ---: | ---: |\n", e.Found["larder"].Edits, same)
	for _, name := range contestants {
		f := e.Found[name]
		called := strings.TrimSpace(name + " " + e.Tools[name])
		if name == "larder" {
			called = "Larder"
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", called, f.Stale, f.Needless, f.Refused, f.Failed)
	}
	return nil
}
