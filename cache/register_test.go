package cache

import (
	"slices"
	"testing"
	"time"
)

// least evicts the element at the least position, and tracks the inserted ones.
type least struct{ held []int }

func (l *least) Insert(pos int, _ int64, _ time.Duration) { l.held = append(l.held, pos) }
func (l *least) Hit(int)                                  {}
func (l *least) Remove(pos int) {
	l.held = slices.DeleteFunc(l.held, func(p int) bool { return p == pos })
}
func (l *least) Victim(incoming int) (int, bool) {
	victim := slices.Min(l.held)
	return victim, victim < incoming
}

// stray names a key that is not cached.
type stray struct{ least }

func (stray) Victim(int) (int, bool) { return -7, true }

func init() {
	Register("test-least", func() Policy { return &least{} })
	Register("test-stray", func() Policy { return &stray{} })
}

func TestRegisteredPolicy(t *testing.T) {
	c := newCache(t, Options{Policy: "test-least", Size: 2})
	for _, k := range []int{5, 3, 4, 1} {
		c.Put(k, k, 1, 0)
	}
	for k, want := range map[int]bool{1: false, 3: false, 4: true, 5: true} {
		if _, ok := c.Get(k); ok != want {
			t.Errorf("position %d held: %v, want %v", k, ok, want)
		}
	}
	c.Remove(5)
	if held := c.policy.(foreign[int]).Policy.(*least).held; !slices.Equal(held, []int{4}) {
		t.Errorf("the policy takes %v to be held, want [4]", held)
	}
}

func TestRegisteredPolicyThatIsWrong(t *testing.T) {
	c := newCache(t, Options{Policy: "test-stray", Size: 1})
	c.Put(1, 1, 1, 0)
	c.Put(2, 2, 1, 0)
	if c.Len() != 1 || c.Stats().Rejected != 1 {
		t.Errorf("%d held, %+v; want what was there, and one rejected", c.Len(), c.Stats())
	}
}

func TestRegisteredPolicyIsForPositions(t *testing.T) {
	if _, err := New[string, int](Options{Policy: "test-least", Size: 1}); err == nil {
		t.Error("a policy for positions was treated as one for strings")
	}
}

func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second lru was registered")
		}
	}()
	Register("lru", nil)
}
