package render_test

import (
	"os"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/render"

	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/op"
)

// A flow is rendered as Mermaid; DOT and SVG work alike.
func Example() {
	f, err := flow.Parse("reversed.yaml", []byte(`version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  reversed: {op: reverse, from: letters}
`), nil)
	if err != nil {
		panic(err)
	}
	if err := render.Of(f, render.Options{}).Mermaid(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// flowchart LR
	//   n0("<b>letters</b><br/>underfolder"):::source
	//   n1("<b>reversed</b><br/>reverse"):::op
	//   n0 --> n1
	//   classDef source fill:#1a7f37,stroke:#1a7f37,color:#ffffff
	//   classDef map fill:#0b5cad,stroke:#0b5cad,color:#ffffff
	//   classDef op fill:#0b5cad,stroke:#0b5cad,color:#ffffff
	//   classDef sink fill:#c62828,stroke:#c62828,color:#ffffff
}
