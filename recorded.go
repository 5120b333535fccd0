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

// What a computation reads is known when it has run. So its key leads to a
// lists of what was read, one for each way the computation went. Its
// value is kept under a second key, made of the first one and of what the
// things on one list were. (The Go command keeps results of tests like this.)

// maxRecorded is how many lists are kept under one key.
const maxRecorded = 16

// recorded is the lists, the latest first; their digests are empty.
type recorded [][]Read

var recordedOp = func() *key.Op {
	op, err := key.NewOp("recorded inputs", key.Version("1"))
	if err != nil {
		panic(err) // it has no parameters that could be wrong
	}
	return op
}()

// recordedKey is the key of the value that was made under k with such reads.
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

// present returns the reads of a list with what they are now.
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

// putRecorded notes under k what was read, in the store if so asked, and returns
// the key for the value, which had a cost.
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
		l.put(ctx, store.Record{Key: k, Type: records.Recorded, Payload: payload, Cost: cost, Provenance: provenance(a, nil)})
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
