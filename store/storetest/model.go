package storetest

import (
	"bytes"
	"errors"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// testModel runs random operations on a store and on a map, which must agree.
func testModel(t *testing.T, medium Medium) {
	rapid.Check(t, func(rt *rapid.T) {
		open := medium(t)
		m := &model{s: open(), want: make(map[key.Key][]byte)}
		defer func() { _ = m.s.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"put":     m.put,
			"putMany": m.putMany,
			"get":     m.get,
			"getMany": m.getMany,
			"delete":  m.delete,
			"collect": m.collect,
			"reopen": func(rt *rapid.T) {
				if err := m.s.Close(); err != nil {
					rt.Fatalf("Close: %v", err)
				}
				m.s = open()
			},
		})
	})
}

type model struct {
	s    store.Store
	want map[key.Key][]byte
}

var someKey = rapid.Custom(func(rt *rapid.T) key.Key { return Key(rapid.IntRange(0, 9).Draw(rt, "key")) })

func (m *model) put(rt *rapid.T) {
	k := someKey.Draw(rt, "put")
	size := rapid.SampledFrom([]int{0, 1, 30, 3000, 300_000}).Draw(rt, "size")
	payload := Payload(rapid.Uint64Range(0, 5).Draw(rt, "seed"), size)
	if err := m.s.Put(rt.Context(), store.Record{Key: k, Payload: payload}); err != nil {
		rt.Fatalf("Put: %v", err)
	}
	m.want[k] = payload
}

// putMany puts small records in one call, some under one key: the later one counts.
func (m *model) putMany(rt *rapid.T) {
	var records []store.Record
	for i, k := range rapid.SliceOfN(someKey, 0, 20).Draw(rt, "put") {
		payload := Payload(rapid.Uint64Range(0, 5).Draw(rt, "seed"), i*11)
		records = append(records, store.Record{Key: k, Payload: payload})
		m.want[k] = payload
	}
	if err := m.s.Put(rt.Context(), records...); err != nil {
		rt.Fatalf("Put: %v", err)
	}
}

func (m *model) getMany(rt *rapid.T) {
	keys := rapid.SliceOfN(someKey, 0, 20).Draw(rt, "get")
	got, err := m.s.GetMany(rt.Context(), keys)
	if err != nil {
		rt.Fatalf("GetMany: %v", err)
	}
	for i, k := range keys {
		want, stored := m.want[k]
		if stored == got[i].Key.IsZero() || !bytes.Equal(got[i].Payload, want) {
			rt.Fatalf("GetMany: %d bytes, want %d bytes, stored %v", len(got[i].Payload), len(want), stored)
		}
	}
}

func (m *model) get(rt *rapid.T) {
	k := someKey.Draw(rt, "get")
	got, err := m.s.Get(rt.Context(), k)
	want, stored := m.want[k]
	if !stored {
		if !errors.Is(err, store.ErrNotFound) {
			rt.Fatalf("Get of nothing: %v", err)
		}
		return
	}
	if err != nil || !bytes.Equal(got.Payload, want) {
		rt.Fatalf("Get: %d bytes, %v, want %d bytes", len(got.Payload), err, len(want))
	}
}

func (m *model) delete(rt *rapid.T) {
	keys := rapid.SliceOfN(someKey, 1, 3).Draw(rt, "delete")
	if err := m.s.Delete(rt.Context(), keys...); err != nil {
		rt.Fatalf("Delete: %v", err)
	}
	for _, k := range keys {
		delete(m.want, k)
	}
}

// collect evicts some records, and asks the store which are left.
func (m *model) collect(rt *rapid.T) {
	limit := rapid.SampledFrom([]int64{0, 10_000, 500_000, 1 << 40}).Draw(rt, "limit")
	if _, err := m.s.Collect(rt.Context(), limit); err != nil {
		rt.Fatalf("Collect: %v", err)
	}
	left := m.keys(rt)
	if limit == 1<<40 && len(left) != len(m.want) {
		rt.Fatalf("Collect without need left %d of %d", len(left), len(m.want))
	}
	maps.DeleteFunc(m.want, func(k key.Key, _ []byte) bool { return !left[k] })
}

// check compares the sets of stored keys.
func (m *model) check(rt *rapid.T) {
	got := m.keys(rt)
	for k := range got {
		if _, ok := m.want[k]; !ok {
			rt.Fatalf("%s is stored but was deleted or never put", k)
		}
	}
	if len(got) != len(m.want) {
		rt.Fatalf("%d records are stored, want %d", len(got), len(m.want))
	}
}

func (m *model) keys(rt *rapid.T) map[key.Key]bool {
	keys := make(map[key.Key]bool)
	for info, err := range m.s.Records(rt.Context()) {
		if err != nil {
			rt.Fatalf("Records: %v", err)
		}
		keys[info.Key] = true
	}
	return keys
}
