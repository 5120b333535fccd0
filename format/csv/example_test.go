package csv_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/csv"
)

// A row is a sample, a column an item.
func ExampleSource_Open() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "days.csv")
	if err := os.WriteFile(path, []byte("day,degrees\nmonday,21.5\ntuesday,\n"), 0o666); err != nil {
		panic(err)
	}
	days, err := csv.Source{Types: map[string]string{"degrees": "float"}}.Open(context.Background(), path, nil)
	if err != nil {
		panic(err)
	}
	for s, err := range dataset.All(context.Background(), days) {
		if err != nil {
			panic(err)
		}
		day, _ := s.Value(context.Background(), "day")
		degrees, _ := s.Value(context.Background(), "degrees")
		fmt.Println(day, degrees)
	}
	// Output:
	// monday 21.5
	// tuesday <nil>
}
