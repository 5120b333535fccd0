package mapper

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("hash", "Adds an item with a digest of the values of other items: equal values give equal digests, whatever their format.",
		func(_ *component.Env, p Hash) (dataset.Mapper, error) { return p.Transform() })
}

// Hash adds an item with the digest, in hexadecimal digits, of the names and values of
// other items, in the canonical encoding of package key. Neither the order of items nor
// that of fields in a document matters; of an image the pixels count. The item is a
// JSON document with a single string, because other readers support that: Pipewine
// leaves out text files.
type Hash struct {
	Items     []string `param:"items" doc:"items to hash; all by default"`
	Into      string   `param:"into" doc:"the item to add" default:"hash"`
	Algorithm string   `param:"algorithm" doc:"hash algorithm; md5 and sha1 are not secure against attacks" default:"sha256" enum:"md5|sha1|sha224|sha256|sha384|sha512|sha3-256|sha3-512"`
	Format    string   `param:"format" doc:"format of the item" default:"json" enum:"json|yaml|txt"`
}

func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	case "sha3-256":
		return sha3.New256()
	case "sha3-512":
		return sha3.New512()
	}
	return nil
}

// Transform returns the mapper.
func (m Hash) Transform() (dataset.Transform, error) {
	into, algorithm, format := cmp.Or(m.Into, "hash"), cmp.Or(m.Algorithm, "sha256"), cmp.Or(m.Format, "json")
	if newHash(algorithm) == nil {
		valid := []string{"md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3-256", "sha3-512"}
		return nil, fmt.Errorf("hash: unknown algorithm %q%s", algorithm, component.Suggest(algorithm, valid))
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "hash", Formats: []string{format},
		Params: []key.Param{{Name: "into", Value: into}, {Name: "all", Value: m.Items == nil}, {Name: "algorithm", Value: algorithm}, {Name: "format", Value: format}},
		In:     m.Items, Out: []string{into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			values := make(map[string]any, s.Len())
			for _, k := range s.Keys() {
				v, err := hashed(ctx, s, k)
				if err != nil {
					return dataset.Sample{}, err
				}
				values[k] = v
			}
			h := newHash(algorithm)
			if err := key.HashContents(h, values); err != nil {
				return dataset.Sample{}, fmt.Errorf("hash: %w", err)
			}
			return oneItem(into, format, hex.EncodeToString(h.Sum(nil))), nil
		},
	})
}

// hashed returns the value of an item, or the reader if the value is bytes.
func hashed(ctx context.Context, s dataset.Sample, k string) (any, error) {
	it, err := s.Item(k)
	if err != nil {
		return nil, err
	}
	if raw, err := it.IsRaw(ctx); !raw || err != nil {
		return s.Value(ctx, k)
	}
	r, size, err := it.Open(ctx)
	if err != nil {
		return nil, err
	}
	return key.Stream{Size: size, Open: func() (io.ReadCloser, error) {
		r, _, err := it.Open(ctx)
		return r, err
	}}, r.Close()
}
