// Package text breaks documents into terms.
package text

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
)

var (
	tagRE    = regexp.MustCompile(`<[^>]+>`)
	spaceRE  = regexp.MustCompile(`\s+`)
	numberRE = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

var stopWords = makeSet("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its",
	"of", "on", "or", "that", "the", "to", "was", "were", "will", "with")

func makeSet(words ...string) map[string]struct{} {
	m := make(map[string]struct{}, len(words))
	for _, w := range words {
		m[w] = struct{}{}
	}
	return m
}

// suffixes are stripped by the stemmer, in order.
var suffixes = []struct {
	end, repl string
	min       int
}{
	{"ational", "ate", 4}, {"ization", "ize", 4}, {"fulness", "ful", 3}, {"ousness", "ous", 3},
	{"ies", "y", 2}, {"ing", "", 3}, {"ed", "", 3}, {"ly", "", 3}, {"es", "", 3}, {"s", "", 3},
}

// A Tokenizer turns text into terms.
type Tokenizer struct {
	stem    bool
	numbers bool
	stop    map[string]struct{}
}

// An Option configures a Tokenizer.
type Option func(*Tokenizer)

// WithStemming strips suffixes.
func WithStemming() Option { return func(t *Tokenizer) { t.stem = true } }

// WithNumbers keeps numbers.
func WithNumbers() Option { return func(t *Tokenizer) { t.numbers = true } }

// WithStopWords replaces the list of words that are left out.
func WithStopWords(words ...string) Option {
	return func(t *Tokenizer) { t.stop = makeSet(words...) }
}

// New returns a tokenizer.
func New(opts ...Option) *Tokenizer {
	t := &Tokenizer{stop: stopWords}
	for _, o := range opts {
		o(t)
	}
	return t
}

// Clean removes markup and folds white space.
func Clean(s string) string {
	s = tagRE.ReplaceAllString(s, " ")
	return strings.TrimSpace(spaceRE.ReplaceAllString(s, " "))
}

// Terms yields the terms of s with their positions.
func (t *Tokenizer) Terms(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		pos := 0
		for w := range strings.FieldsFuncSeq(Clean(s), isSeparator) {
			w = strings.ToLower(w)
			if term, ok := t.normalize(w); ok {
				if !yield(pos, term) {
					return
				}
			}
			pos++
		}
	}
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
}

func (t *Tokenizer) normalize(w string) (string, bool) {
	if _, ok := t.stop[w]; ok {
		return "", false
	}
	if numberRE.MatchString(w) {
		return w, t.numbers
	}
	if t.stem {
		w = Stem(w)
	}
	return w, w != ""
}

// Stem strips one suffix of a word.
func Stem(w string) string {
	for _, s := range suffixes {
		if base, ok := strings.CutSuffix(w, s.end); ok && len(base) >= s.min {
			return base + s.repl
		}
	}
	return w
}
