package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A correction is a line of corrections.txt: manual facts about a name, or about all names
// with a prefix if it ends in a star. It overrides the analysis of these names, and so
// affects their callers.
type correction struct {
	pattern string
	words   []string
	outside string
	used    bool
}

// corrections are in the order of the file.
type corrections []*correction

// vocabulary lists the words that a line may have. Without one of the first three, the
// findings about the outside stay.
var vocabulary = []string{
	"pure",    // depends on nothing outside
	"unknown", // omitted
	"reads", "returns", "writes", "receiver", "first",
	"local", // callers do not inherit its dependencies on the outside
	"registry", "zone", "harmless",
}

// parseCorrections parses lines like those of facts.txt: "NAME WORD...; OUTSIDE", with
// comments from # on.
func parseCorrections(b []byte) (corrections, error) {
	var all corrections
	n := 0
	for text := range bytes.Lines(b) {
		n++
		s, _, _ := strings.Cut(string(text), "#")
		s, outside, _ := strings.Cut(s, ";")
		words := strings.Fields(s)
		if len(words) == 0 {
			continue
		}
		c := &correction{pattern: words[0], words: words[1:], outside: strings.TrimSpace(outside)}
		for _, w := range c.words {
			if !slices.Contains(vocabulary, w) {
				return nil, fmt.Errorf("corrections.txt:%d: unknown word %q", n, w)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// find returns the most specific correction of a name for which has returns true.
func (cs corrections) find(name string, has func(*correction) bool) *correction {
	var best *correction
	for _, c := range cs {
		if !c.matches(name) {
			continue
		}
		c.used = true
		if has(c) && (best == nil || c.specificity() > best.specificity()) {
			best = c
		}
	}
	return best
}

func (c *correction) matches(name string) bool {
	if prefix, ok := strings.CutSuffix(c.pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return name == c.pattern
}

func (c *correction) specificity() int {
	if strings.HasSuffix(c.pattern, "*") {
		return len(c.pattern)
	}
	return 1000 + len(c.pattern)
}

// word returns the first of the words in the most specific correction with any of them.
func (cs corrections) word(name string, words ...string) string {
	var found string
	c := cs.find(name, func(c *correction) bool {
		return slices.ContainsFunc(c.words, func(w string) bool { return slices.Contains(words, w) })
	})
	if c != nil {
		found = c.words[slices.IndexFunc(c.words, func(w string) bool { return slices.Contains(words, w) })]
	}
	return found
}

// outside returns the corrected dependency of a name.
func (cs corrections) outside(name string) (label string, ok bool) {
	c := cs.find(name, func(c *correction) bool {
		return c.outside != "" || slices.Contains(c.words, "pure") || slices.Contains(c.words, "unknown")
	})
	switch {
	case c == nil:
		return "", false
	case slices.Contains(c.words, "unknown"):
		return unknown, true
	}
	return c.outside, true
}

// effect returns the corrected effect of a name.
func (cs corrections) effect(name string) (string, bool) {
	w := cs.word(name, "reads", "returns", "writes", "receiver", "first")
	return w, w != ""
}

// unused lists the patterns without a match.
func (cs corrections) unused() (patterns []string) {
	for _, c := range cs {
		if !c.used {
			patterns = append(patterns, c.pattern)
		}
	}
	return patterns
}
