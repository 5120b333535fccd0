package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestMessagesAreInTheCode checks that the code has the messages that the page on
// operations explains: some file has all their parts.
func TestMessagesAreInTheCode(t *testing.T) {
	code := sources(t)
	_, table, ok := strings.Cut(read(t, "guides/operations.md"), "## Trouble, by message")
	if !ok {
		t.Fatal("the page has no messages")
	}
	messages := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\| ").FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			messages++
			if !inOne(code, m[1]) {
				t.Errorf("no file has the message %q", m[1])
			}
		}
	}
	if messages < 20 {
		t.Errorf("%d messages were found", messages)
	}
}

// inOne reports whether some file has all parts of a message.
func inOne(files []string, message string) bool {
	for _, f := range files {
		all := true
		for part := range strings.SplitSeq(message, "...") {
			part = strings.Trim(part, " ") // it may consist of several strings
			all = all && strings.Contains(f, part)
		}
		if all {
			return true
		}
	}
	return false
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sources returns the code of the program, a string per file.
func sources(t *testing.T) (all []string) {
	t.Helper()
	walk(t, ".go", func(path, text string) {
		if !strings.HasSuffix(path, "_test.go") {
			all = append(all, text)
		}
	})
	return all
}
