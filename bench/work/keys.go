package work

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"

	"github.com/larder-data/larder/key"
)

// settings are the key parts of the keys row.
type settings struct {
	Name string
	Size int
	Rate float64
	Deep bool
}

// keys is the row of keys: the time to compute the key of a call from a struct of four
// fields.
func keys(_ context.Context, j Job) (Figures, error) {
	var name func(settings) error
	switch j.Contestant {
	case "Larder":
		op, err := key.NewOp("f", key.Version("1"))
		if err != nil {
			return nil, err
		}
		name = func(s settings) error {
			a, err := op.Call(s)
			if err == nil {
				a.Key()
			}
			return err
		}
	case "encoding/json and SHA-256":
		name = func(s settings) error {
			b, err := json.Marshal(s)
			sha256.Sum256(b)
			return err
		}
	case "encoding/gob and SHA-256":
		name = func(s settings) error {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(s)
			sha256.Sum256(b.Bytes())
			return err
		}
	default:
		return nil, errUnknown
	}
	ready()
	n := 0
	each, err := j.repeat(1000, func() error {
		for range 1000 {
			n++
			if err := name(settings{"resize", n, 0.5, true}); err != nil {
				return err
			}
		}
		return nil
	})
	return Figures{"key": each}, err
}
