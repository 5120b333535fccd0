package analysis

import (
	"go/types"
	"sync"
)

// found caches facts about the whole program, computed on demand.
type found struct {
	held           memo[map[types.Type]bool] // types with values that may be in interfaces
	embeds         memo[map[types.Type]bool] // types that structs embed
	values         memo[[]value]
	twins          memo[twins]
	recovers       memo[bool]
	makesFunctions memo[bool]
	setsFlags      memo[bool]
	foreign        memo[bool]
	unseen         memo[unseen]       // where values of unknown types may be
	cut            memo[[]types.Type] // elements of slices and arrays that are cut
	locks          sync.Map           // types.Type to whether it contains a lock
}

// memo is a value computed at its first use.
type memo[T any] struct {
	sync.Once
	value T
}

func (m *memo[T]) get(make func() T) T {
	m.Do(func() { m.value = make() })
	return m.value
}
