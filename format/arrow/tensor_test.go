package arrow_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	goarray "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/larder-data/larder/format/arrow"
)

// tensors returns a file with one column of tensors of 2*3 bytes: 0 to 5, then 6 to 11.
func tensors(t testing.TB, parameters string, missing bool) string {
	t.Helper()
	schema := goarrow.NewSchema([]goarrow.Field{{
		Name: "x", Type: goarrow.FixedSizeListOf(6, goarrow.PrimitiveTypes.Uint8),
		Metadata: goarrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"}, []string{"arrow.fixed_shape_tensor", parameters}),
	}}, nil)
	b := goarray.NewRecordBuilder(memory.DefaultAllocator, schema)
	list := b.Field(0).(*goarray.FixedSizeListBuilder)
	for i := range 12 {
		if i%6 == 0 {
			list.Append(true)
		}
		if missing && i == 3 {
			list.ValueBuilder().AppendNull()
		} else {
			list.ValueBuilder().(*goarray.Uint8Builder).Append(uint8(i))
		}
	}
	var to bytes.Buffer
	w, err := ipc.NewFileWriter(&to, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.arrow")
	if err := os.WriteFile(path, to.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTensorsHaveTheirShape checks that the permutation from physical to logical dimensions
// is applied.
func TestTensorsHaveTheirShape(t *testing.T) {
	for parameters, want := range map[string][2]string{
		`{"shape": [2, 3]}`: {"uint8[2 3]000102030405", "uint8[2 3]060708090a0b"},
		`{"shape": [2, 3], "dim_names": ["H", "W"], "permutation": [0, 1]}`: {"uint8[2 3]000102030405", "uint8[2 3]060708090a0b"},
		`{"shape": [2, 3], "permutation": [1, 0]}`:                          {"uint8[3 2]000301040205", "uint8[3 2]0609070a080b"},
		`{"shape": [1, 2, 3], "permutation": [2, 0, 1]}`:                    {"uint8[3 1 2]000301040205", "uint8[3 1 2]0609070a080b"},
	} {
		got, err := shown(t, arrow.Source{}, tensors(t, parameters, false))
		if err != nil || fmt.Sprint(got) != fmt.Sprintf("[x=%s x=%s]", want[0], want[1]) {
			t.Errorf("%s: %q, %v", parameters, got, err)
		}
	}
}

// TestTensorsThatAreNone checks that they are refused, and never read as flat lists.
func TestTensorsThatAreNone(t *testing.T) {
	for parameters, says := range map[string]string{
		``:                                    "invalid tensor shape",
		`{"shape": 6}`:                        "invalid tensor shape",
		`{"permutation": [0]}`:                "invalid tensor shape",
		`{"shape": [2, 4]}`:                   "6 elements",
		`{"shape": [-2, -3]}`:                 "damaged",
		`{"shape": [4294967296, 4294967296]}`: "damaged",
		`{"shape": [2, 3], "permutation": [0, 0]}`:  "not a permutation",
		`{"shape": [2, 3], "permutation": [1]}`:     "not a permutation",
		`{"shape": [2, 3], "permutation": [-1, 0]}`: "not a permutation",
	} {
		if got, err := shown(t, arrow.Source{}, tensors(t, parameters, false)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "column x") {
			t.Errorf("%s: %q, %v", parameters, got, err)
		}
	}
	if got, err := shown(t, arrow.Source{}, tensors(t, `{"shape": [2, 3]}`, true)); err == nil || !strings.Contains(err.Error(), "null") {
		t.Errorf("%q, %v", got, err)
	}
}
