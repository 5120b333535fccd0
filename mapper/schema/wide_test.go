package schema_test

import (
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper/schema"
)

// TestNumbersOfAnySize checks that integers beyond 64 bits are integers, and that NaN is a
// finding, not a panic.
func TestNumbersOfAnySize(t *testing.T) {
	s, err := schema.Parse("x.yaml", []byte("version: 1\nitems:\n  doc:\n    kind: document\n    schema: {properties: {id: {type: integer}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		`{"id": 18446744073709551616}`: true, `{"id": 1.5}`: false,
		`{"id": NaN}`: false, `{"id": Infinity}`: false,
	} {
		sample := dataset.NewSample(dataset.Field{Key: "doc", Item: dataset.NewBytes("json", []byte(text))})
		problems, err := s.Check(t.Context(), 0, sample)
		if err != nil || (len(problems) == 0) != good {
			t.Errorf("%s: %v, %v", text, problems, err)
		}
	}
}
