package testrand

import (
	"slices"
	"testing"
)

// TestSomeIsAllInTime checks that each number has its turn, and that all have it on
// request.
func TestSomeIsAllInTime(t *testing.T) {
	const n, every = 10, 4
	t.Setenv("LARDER_SUITE", "")
	tried := map[int]bool{}
	for _, seed := range []string{"", "1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		t.Setenv("LARDER_SEED", seed)
		list := Some(t, n, every)
		for i, k := range list {
			tried[k] = true
			if i > 0 && k != list[i-1]+every {
				t.Errorf("seed %q: %v", seed, list)
			}
		}
		if list[0] >= every || list[len(list)-1] < n-every {
			t.Errorf("seed %q: %v leaves more out than one in %d", seed, list, every)
		}
		if seed != "" && !slices.Equal(list, Some(t, n, every)) {
			t.Errorf("seed %q gives two lists", seed)
		}
	}
	if len(tried) != n {
		t.Errorf("of %d numbers ten seeds try %d", n, len(tried))
	}
	if one := Some(t, 1, every); len(one) != 1 {
		t.Errorf("of one number: %v", one)
	}
	t.Setenv("LARDER_SUITE", "all")
	if list := Some(t, n, every); len(list) != n {
		t.Errorf("all are %v", list)
	}
}
