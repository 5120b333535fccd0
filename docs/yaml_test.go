package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

var (
	fileName = regexp.MustCompile(`^# (\S+\.yaml)\n`)
	codeFile = regexp.MustCompile(`code: \[(.*?)\]`)
)

// yaml saves and checks a block of YAML.
func (s *sandbox) yaml(text string) {
	s.Helper()
	name := "block.yaml"
	if m := fileName.FindStringSubmatch(text); m != nil {
		name = m[1]
	}
	if strings.HasPrefix(text, "  ") {
		text = s.completed(text)
	}
	for _, m := range codeFile.FindAllStringSubmatch(text, -1) {
		for file := range strings.SplitSeq(m[1], ",") {
			write(s.T, filepath.Join(s.home, strings.TrimSpace(file)), []byte("code\n"))
		}
	}
	write(s.T, filepath.Join(s.home, name), []byte(text))
	s.checkExample(text)
	command := "larder lint --strict " + name
	var top struct{ Items map[string]any }
	if err := yaml.Unmarshal([]byte(text), &top); err == nil && top.Items != nil {
		command = "larder validate examples/letters/data --first 1 --schema " + name
	}
	if out, err := s.sh(command); err != nil {
		s.errorf("%s: %v\n%s", command, err, out)
	}
}

// completed makes a flow of some of its nodes. Missing nodes that they read become sources.
func (s *sandbox) completed(nodes string) string {
	s.Helper()
	var have map[string]struct{ From any }
	if err := yaml.Unmarshal([]byte(nodes), &have); err != nil {
		s.errorf("%v", err)
	}
	var missing []string
	for _, n := range have {
		if from, ok := n.From.(string); ok {
			from, _, _ = strings.Cut(from, ".")
			if _, ok := have[from]; !ok && !slices.Contains(missing, from) {
				missing = append(missing, from)
			}
		}
	}
	flow := "version: 1\nnodes:\n" + nodes
	for _, name := range missing {
		flow += "  " + name + ":\n    source: underfolder\n    with: {path: data}\n"
	}
	return flow
}

// checkExample checks that a flow that begins like an example equals it.
func (s *sandbox) checkExample(text string) {
	s.Helper()
	files, err := filepath.Glob("../examples/*/flow.yaml")
	if err != nil || len(files) == 0 {
		s.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		first, _, _ := strings.Cut(string(b), "\n")
		if strings.HasPrefix(text, first+"\n") && text != string(b) {
			s.errorf("it begins as %s and is another flow", file)
		}
	}
}
