package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	wordForm = regexp.MustCompile(`^(?:[\w/]+: |(?:[a-zA-Z_]\w*\.)*)([A-Za-z_]\w*)(?:\(.*\)|/\w+)?$`)
	coined   = regexp.MustCompile(`[a-z0-9]_[a-z]|[a-z][A-Z]|[a-z]\w*\(`) // not a plain word, and not in capitals
)

// others has names of other software that no code here has: of stores, torch, pandas,
// numba, PyTensor, evalcache, TensorFlow and Python.
var others = strings.Fields(`AWSAccessKeyId AbortIncompleteMultipartUpload GoogleAccessId ListBucket
	channels_last GeoDataFrame StringDType NumbaPerformanceWarning cache_version recompile LazyHash
	SequenceExample BufferError`)

// TestNamedIdentifiersExist checks that some code has each identifier of several words on
// pages.
func TestNamedIdentifiersExist(t *testing.T) {
	have := map[string]bool{}
	walk(t, "", func(path, text string) {
		if !strings.HasPrefix(path, "../docs/") { // not these tests
			for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				have[w], have[strings.TrimPrefix(w, "Benchmark")], have["larder_embed_"+w] = true, true, true // as figures and metrics name them
			}
		}
	})
	for _, p := range everyPage(t) {
		code := p.code()
		for i, line := range strings.Split(p.ours(), "\n") {
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				name := wordForm.FindStringSubmatch(m[1])
				if name == nil || !coined.MatchString(m[1]) || have[name[1]] || strings.Contains(code, name[1]) || slices.Contains(others, name[1]) {
					continue
				}
				t.Errorf("%s:%d: no code has %s", p.name, i+1, name[1])
			}
		}
	}
}
