package source

import (
	"go/types"
	"sync"
)

// found is what is asked of the whole program, found when it is first asked for.
type found struct {
	held           memo[map[types.Type]bool] // types of which there may be values behind interfaces
	embeds         memo[map[types.Type]bool] // types that structs embed
	values         memo[[]value]
	twins          memo[twins]
	recovers       memo[bool]
	makesFunctions memo[bool]
	setsFlags      memo[bool]
	foreign        memo[bool]
	unseen         memo[unseen]       // where values of types that are not known may be
	cut            memo[[]types.Type] // elements of lists and arrays of which parts are made
	locks          sync.Map           // types.Type to whether it has one
}

// memo is a value that is made at its first use.
type memo[T any] struct {
	sync.Once
	value T
}

func (m *memo[T]) get(make func() T) T {
	m.Do(func() { m.value = make() })
	return m.value
}
