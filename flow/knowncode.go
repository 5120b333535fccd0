package flow

import (
	"context"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
)

const larderPath = "github.com/larder-data/larder"

// arranges lists what operators use of Larder to rearrange datasets. Their
// outputs depend on these and on nothing else of Larder.
var arranges = []string{
	larderPath + "/dataset.Func", larderPath + "/dataset.List", larderPath + "/dataset.Reorder", larderPath + "/dataset.Cat",
	larderPath + "/dataset.Zip", larderPath + "/dataset.Map", larderPath + "/dataset.Each", larderPath + "/dataset.MapperFunc",
	larderPath + "/component.One", larderPath + "/component.Data", larderPath + "/order/...",
}

// steady reports whether the behaviour of a third-party component is identified
// by its code, so that nothing else that may change affects it. code then
// identifies it. The components of Larder depend on their parameters alone.
func steady(ctx context.Context, l *larder.Larder, c *component.Component) (code string, ok bool) {
	f, err := analysis.FunctionOf(c.Function())
	switch {
	case err != nil:
		return "", false
	case ownCode(f.Package):
		return "", true
	}
	id, err := known.CodeOf(ctx, l, known.Component{Functions: []any{c.Function()}, Declared: analysis.Declared{Values: true, Pure: arranges}})
	if err != nil || id.Closure == nil || len(id.Closure.Inputs) > 0 {
		return "", false
	}
	return id.Code.ID, true
}

// ownCode reports whether a package belongs to Larder.
func ownCode(path string) bool {
	return strings.HasPrefix(path, larderPath+"/") && !strings.HasPrefix(path, larderPath+"/examples/")
}
