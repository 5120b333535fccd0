package order

import (
	"slices"
	"testing"
)

// TestEpochsDiffer checks that each pass has the order of a shuffle of its epoch, and that passes and seeds differ.
func TestEpochsDiffer(t *testing.T) {
	const n, epochs = 100, 5
	seen := map[string]bool{}
	for _, seed := range []uint64{0, 1, 2} {
		passes, err := Epochs(n, seed, epochs)
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range epochs {
			one, err := Shuffle(n, seed, uint64(epoch))
			if err != nil {
				t.Fatal(err)
			}
			got := all(passes)[epoch*n:][:n]
			if !slices.Equal(got, all(one)) {
				t.Errorf("seed %d: pass %d is not the shuffle of that epoch", seed, epoch)
			}
			b := make([]byte, n)
			for i, index := range got {
				b[i] = byte(index)
			}
			if seen[string(b)] {
				t.Errorf("seed %d, epoch %d: an order came twice", seed, epoch)
			}
			seen[string(b)] = true
		}
	}
}
