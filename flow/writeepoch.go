package flow

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A loader gives the variable epoch of a flow another value in each epoch,
// unless the user has set it. So the variable must remain in a written flow;
// otherwise all epochs would have the same random draws. The writer finds its
// uses by comparing the flows that two values produce.
const epochVariable = "epoch"

// otherEpochs are values that do not occur in flows otherwise.
var otherEpochs = []string{"1864320917", "1290483671"}

var errEpoch = errors.New("variable epoch decides on more than values; give --set epoch=N to write the flow")

// epochUse is a value of a written flow that contains the variable.
type epochUse struct {
	path  []*yaml.Node // names and numbers on the path to it
	value *yaml.Node
}

// drawn writes a flow that depends on the variable epoch, and returns its uses.
// It returns nil if the flow does not depend on it, or if epoch was set.
func (f *Flow) drawn() (top *yaml.Node, uses []epochUse, err error) {
	t, err := f.Bundle()
	if err != nil || f.epoch == nil || f.epoch.Kind != yaml.ScalarNode {
		return nil, nil, nil
	}
	if _, set := f.vars[epochVariable]; set || !slices.Contains(VarsIn(t.Files[t.File]), epochVariable) {
		return nil, nil, nil
	}
	var tops []*yaml.Node
	for _, value := range otherEpochs {
		vars := map[string]string{epochVariable: value}
		maps.Copy(vars, t.Vars)
		g, err := Bundle{File: t.File, Files: t.Files, Vars: vars}.Flow()
		if err != nil {
			return nil, nil, fmt.Errorf("%w (with another value: %w)", errEpoch, err)
		}
		top, err := g.asIs()
		if err != nil {
			return nil, nil, err
		}
		tops = append(tops, top)
	}
	uses, err = compare(nil, nil, tops[0], tops[1])
	if err != nil || len(uses) == 0 {
		return nil, nil, err
	}
	put(tops[0], "vars", &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text(epochVariable), f.epoch}})
	return tops[0], uses, nil
}

// compare finds where two documents differ, and inserts the variable there in
// the first.
func compare(uses []epochUse, path []*yaml.Node, a, b *yaml.Node) ([]epochUse, error) {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return nil, errEpoch
	}
	if a.Kind == yaml.ScalarNode {
		is := strings.ReplaceAll(a.Value, otherEpochs[0], "${"+epochVariable+"}")
		switch {
		case a.Value == b.Value:
			return uses, nil
		case is != strings.ReplaceAll(b.Value, otherEpochs[1], "${"+epochVariable+"}"):
			return nil, errEpoch
		}
		a.Value, a.Tag = is, "!!str"
		return append(uses, epochUse{path, a}), nil
	}
	for i := range a.Content {
		step := scalar("!!int", strconv.Itoa(i))
		if a.Kind == yaml.MappingNode {
			if i%2 == 0 {
				if a.Content[i].Value != b.Content[i].Value {
					return nil, errEpoch
				}
				continue
			}
			step = a.Content[i-1]
		}
		var err error
		if uses, err = compare(uses, append(slices.Clone(path), step), a.Content[i], b.Content[i]); err != nil {
			return nil, err
		}
	}
	return uses, nil
}
