package larder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// The dependencies of a computation are known after it has run. So its key leads to
// lists of dependencies, one for each path that the computation took. The value is
// stored under a second key, computed from the first one and the state of the
// dependencies on one list. (The Go command caches test results like this.)

const maxRecorded = 16

// recorded has lists of dependencies, the latest first, without digests.
type recorded [][]Read

var recordedOp = func() *key.Op {
	op, err := key.NewOp("recorded inputs", key.Version("1"))
	if err != nil {
		panic(err) // no parameter can be wrong
	}
	return op
}()

// recordedKey returns the key of the value that k has with the given dependencies.
func recordedKey(k key.Key, reads []Read) (key.Key, error) {
	reads = slices.SortedFunc(slices.Values(reads), func(a, b Read) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	a, err := recordedOp.Call(k, reads)
	if err != nil {
		return key.Key{}, err
	}
	return a.Key(), nil
}

// present returns the dependencies of a list with their present state.
func present(ctx context.Context, l *Larder, list []Read) ([]Read, error) {
	reads := make([]Read, len(list))
	for i, r := range list {
		var err error
		if reads[i], err = r.now(ctx, l.Files()); err != nil {
			return nil, err
		}
	}
	return reads, nil
}

// add returns the lists with one more in front.
func (t recorded) add(reads []Read) recorded {
	list := slices.Clone(reads)
	for i := range list {
		list[i].Digest = key.Digest{}
	}
	t = slices.DeleteFunc(slices.Clone(t), func(other []Read) bool { return slices.Equal(other, list) })
	t = slices.Insert(t, 0, list)
	return t[:min(len(t), maxRecorded)]
}

// readRecorded returns the lists under k, or nil.
func (l *Larder) readRecorded(ctx context.Context, k key.Key) recorded {
	rec, err := l.store.Get(ctx, k)
	if err != nil || rec.Type != records.Recorded {
		return nil
	}
	t, _ := decodeRecorded(rec.Payload)
	return t
}

// putRecorded stores a list under k in memory, and in the store if inStore. It returns
// the key for the value; cost is that of the value.
func (l *Larder) putRecorded(ctx context.Context, a *key.Action, k key.Key, reads []Read, inStore bool, cost time.Duration) (key.Key, error) {
	under, err := recordedKey(k, reads)
	if err != nil {
		return key.Key{}, err
	}
	t := l.readRecorded(ctx, k).add(reads)
	payload, err := cbor.Marshal(t)
	if err != nil {
		return key.Key{}, err
	}
	if inStore {
		l.put(ctx, store.Record{Key: k, Type: records.Recorded, Payload: payload, Cost: cost, Provenance: l.appendProvenance(ctx, nil, a, nil)})
	}
	if l.memory != nil {
		l.memory.Put(k, &entry{value: t, typ: records.Recorded, key: k}, int64(len(payload))+entryOverhead, 0)
	}
	return under, nil
}

var decodeStrict = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden,
		TagsMd: cbor.TagsForbidden, MaxNestedLevels: 8, MaxArrayElements: 1 << 20, MaxMapPairs: 16,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return m
}()

func decodeRecorded(b []byte) (t recorded, err error) {
	if err = decodeStrict.Unmarshal(b, &t); err == nil && len(t) > maxRecorded {
		err = errors.New("larder: too many recorded inputs")
	}
	return t, err
}
