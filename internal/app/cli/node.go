package cli

import (
	"os"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// sourceOrFlow returns a flow and the selected node: for a dataset, a flow that
// only reads it.
func (a *app) sourceOrFlow(args []string, set variables) (*flow.Flow, string, error) {
	if len(args) == 2 {
		fl, err := a.parse(args[0], set)
		return fl, args[1], err
	}
	var at place
	if err := at.read(component.Source, args[0]); err != nil {
		return nil, "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, "", err
	}
	n := &flow.Node{Name: "dataset", Component: at.component, Params: at.params}
	nodes := []*flow.Node{n}
	if at.component.IsStream(at.params) {
		n = materialised(n)
		nodes = append(nodes, n)
	}
	fl, err := flow.New("validate", dir, nodes...)
	return fl, n.Name, err
}
