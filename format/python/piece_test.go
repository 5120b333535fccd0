package python

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/larder-data/larder/internal/app/pyfunction"
)

// message is an answer with some strings, as a worker writes it.
func message(number, count, passed, ended uint64, texts ...string) (b []byte) {
	for _, n := range []uint64{number, count, passed, ended} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	for _, text := range texts {
		v := pyfunction.Value{Form: pyfunction.AsText}
		to := make([]byte, v.Sized(len(text)))
		copy(v.PutHead(to, len(text)), text)
		b = append(b, to...)
	}
	return b
}

// TestPiecesOfOneOrder checks that only whole elements of the order count among those left
// in the memory of a worker.
func TestPiecesOfOneOrder(t *testing.T) {
	reply := pyfunction.Reply{Function: "f:f", Into: []string{"a"}, Most: 100}
	for _, c := range []struct {
		name   string
		from   []byte
		wrong  bool
		count  int
		passed uint64
		err    error
	}{
		{"all", message(3, 2, 7, 0, "one", "two"), false, 2, 7, nil},
		{"the last ones", message(3, 1, 0, 1, "one"), false, 1, 0, io.EOF},
		{"more bytes than elements", message(3, 1, 0, 0, "one", "two"), false, 1, 0, nil},
		{"of the order before", message(2, 2, 0, 0, "one", "two"), true, 0, 0, nil},
		{"of no order", message(0, 2, 0, 0, "one", "two"), true, 0, 0, nil},
		{"fewer bytes than elements", message(3, 3, 0, 0, "one", "two"), true, 2, 0, nil},
		{"cut off", message(3, 1, 0, 0, "one")[:headBytes+8], true, 0, 0, nil},
		{"nothing", nil, true, 0, 0, nil},
	} {
		var p piece
		err := p.read(c.from, 3, reply)
		if (err != nil) != c.wrong || !errors.Is(p.err, c.err) || (p.err == nil) != (c.err == nil) || len(p.samples) != c.count || p.passed != c.passed {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
}

// FuzzPiece checks that any output of a worker is samples or an error.
func FuzzPiece(f *testing.F) {
	f.Add(message(3, 2, 7, 0, "one", "two"))
	f.Add(message(3, 1<<63, 7, 1, "one"))
	f.Add(message(3, 1, 0, 0, "one")[:headBytes+8])
	f.Fuzz(func(t *testing.T, b []byte) {
		var p piece
		if p.read(b, 3, pyfunction.Reply{Function: "f:f", Into: []string{"a", "b"}, Most: 100}) != nil {
			return
		}
		for _, s := range p.samples {
			for field := range s.Fields() {
				_, _ = field.Item.Value(t.Context()) // of any kind
			}
		}
	})
}
