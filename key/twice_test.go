package key_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/larder-data/larder/key"
)

type moody struct{ calls *byte }

func (m moody) AppendKey(b []byte) ([]byte, error) {
	*m.calls++
	return append(b, *m.calls), nil
}

type moodyMarshaler struct{ calls *byte }

func (m moodyMarshaler) MarshalBinary() ([]byte, error) {
	*m.calls++
	return []byte{*m.calls}, nil
}

func (m *moodyMarshaler) UnmarshalBinary(b []byte) error {
	m.calls = &b[0]
	return nil
}

type steady struct{ calls *int }

func (s steady) AppendKey(b []byte) ([]byte, error) {
	*s.calls++
	return append(b, 1), nil
}

// TestEncodingsThatDependOnRandomness relies on a type being encoded twice when it is first seen.
func TestEncodingsThatDependOnRandomness(t *testing.T) {
	for _, v := range []any{moody{new(byte)}, []any{moodyMarshaler{new(byte)}}} {
		_, err := key.Of(v)
		var u *key.UnkeyableError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), "did not give the same twice") {
			t.Errorf("%T: %v", v, err)
		}
	}
	calls := 0
	for range 5 {
		if _, err := key.Of(steady{&calls}); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 6 {
		t.Errorf("%d calls for 5 values, want one more for the first", calls)
	}
}
