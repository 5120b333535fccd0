package bench

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
)

// A Bench evaluates functions on a cache folder.
type Bench struct {
	kept, empty *larder.Larder
	folder      string            // of empty
	versions    map[string]string // instead of the sources' identity, where not nil
	out         *json.Encoder
}

// A line is what came of a function.
type line struct {
	Name     string   `json:"name"`
	Value    any      `json:"value"`
	Fresh    any      `json:"fresh"` // the value without the cache
	Computed bool     `json:"computed"`
	Error    string   `json:"error,omitempty"`
	Why      []string `json:"why,omitempty"`
}

// Open opens a cache folder. A file of versions in JSON, if it is named, gives
// each function a version instead of the identity by its sources.
func Open(dir, versions string) (*Bench, error) {
	b := &Bench{out: json.NewEncoder(os.Stdout)}
	if versions != "" {
		data, err := os.ReadFile(versions)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &b.versions); err != nil {
			return nil, err
		}
	}
	var err error
	if b.folder, err = os.MkdirTemp("", "suite-empty-"); err != nil {
		return nil, err
	}
	if b.empty, err = larder.Open(larder.Options{Dir: b.folder}); err != nil {
		return nil, err
	}
	b.kept, err = larder.Open(larder.Options{Dir: dir})
	return b, err
}

// Close closes the cache folder.
func (b *Bench) Close() error {
	return errors.Join(b.kept.Close(), b.empty.Close(), os.RemoveAll(b.folder))
}

// Try evaluates f on the cache folder, and beside it the function as it is, or,
// where that has no name, f on an empty folder.
func Try[A, R any](b *Bench, name string, f func(lazy.Value[A]) lazy.Value[R], plain func(context.Context, A) (R, error), arg A) {
	ctx := context.Background()
	if b.versions != nil {
		if plain == nil {
			return
		}
		f = lazy.Func1("versioned "+name, plain, lazy.Options{Version: b.versions[name]})
	}
	l := line{Name: name}
	l.Why, _ = lazy.Why(ctx, b.kept, f(lazy.Of(arg)))
	before := b.kept.Metrics().Computed
	if v, err := f(lazy.Of(arg)).Get(ctx, b.kept); err != nil {
		l.Error = err.Error()
	} else {
		l.Value = v
	}
	l.Computed = b.kept.Metrics().Computed > before
	var fresh R
	var err error
	if plain != nil {
		fresh, err = plain(ctx, arg)
	} else {
		fresh, err = f(lazy.Of(arg)).Get(ctx, b.empty)
	}
	if err == nil {
		l.Fresh = fresh
	}
	if err := b.out.Encode(l); err != nil {
		log.Fatal(err)
	}
}
