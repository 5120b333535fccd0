package mapper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// TestLargeItemsAreRead hashes an item, and passes it to a command, in parts. Allocated
// memory does not grow with the item.
func TestLargeItemsAreRead(t *testing.T) {
	const size, most = 128 << 20, 16 << 20
	path := filepath.Join(t.TempDir(), "large.bin")
	file, err := os.Create(path)
	if err == nil {
		err = file.Truncate(size) // a hole, which takes no space
	}
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	hash, err := mapper.Hash{Items: []string{"a"}}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	env := &component.Env{Dir: t.TempDir()}
	count, err := mapper.Exec{Command: []string{"sh", "-c", `wc -c < "$LARDER_IN/a.bin" > "$LARDER_OUT/n.txt"`}, Items: []string{"a"}, Into: []string{"n"}}.Transform(env)
	if err != nil {
		t.Fatal(err)
	}
	for item, m := range map[string]dataset.Transform{"hash": hash, "n": count} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := m.Map(t.Context(), dataset.NewSample(dataset.Field{Key: "a", Item: dataset.File(path, nil)}))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		v, err := out.Value(t.Context(), item)
		if err != nil || item == "n" && strings.TrimSpace(v.(string)) != fmt.Sprint(size) {
			t.Errorf("%v, %v", v, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d bytes were allocated for an item of %d", item, n, size)
		}
	}
}
