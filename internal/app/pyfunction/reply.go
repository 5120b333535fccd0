package pyfunction

import (
	"fmt"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/python"
	"github.com/larder-data/larder/internal/text/display"
)

const (
	// MaxBytes is how many bytes a function may return for a sample by default.
	MaxBytes = 1 << 30
	// ErrorBytes is more than the report of a failed sample has.
	ErrorBytes = 64 << 10
)

// A Reply says what a function is to make of a sample.
type Reply struct {
	Function string
	Into     []string
	Most     int // bytes
}

// Read reads what the function returned for one sample, at the beginning of a message, and
// returns what comes after it. failed is why there is no sample; err is of a message that is
// not understood.
func (r Reply) Read(from []byte) (s dataset.Sample, rest []byte, failed, err error) {
	size := 0
	for _, name := range r.Into {
		v, rest, err := ReadValue(from)
		if err != nil {
			return s, nil, nil, err
		}
		from = rest
		if v.Form == AsError { // in place of all items
			return s, from, fmt.Errorf("%s: %w", r.Function, &python.FunctionError{Text: string(v.Data)}), nil
		}
		if size += len(v.Data); size > r.Most {
			failed = fmt.Errorf("%s: the returned value has %d bytes, but max-bytes is %d", r.Function, size, r.Most)
			continue
		}
		it, err := v.item()
		if err != nil {
			return s, nil, nil, fmt.Errorf("item %s: %w", display.Name(name), err)
		}
		s = s.WithItem(name, it)
	}
	return s, from, failed, nil
}
