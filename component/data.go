package component

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/larder-data/larder/dataset"
)

// Samples is a dataset of samples, as an edge carries it.
type Samples = dataset.Dataset[dataset.Sample]

// Data is the output of a node: one dataset, several named datasets, or a stream.
type Data struct {
	Parts  []Samples
	Names  []string // as long as Parts; nil for a single dataset
	Stream *Stream  // nil for datasets; otherwise there are no Parts
}

// One returns the data of a node with a single output.
func One(ds Samples) Data { return Data{Parts: []Samples{ds}} }

// Single returns the only dataset, or an error that lists the outputs.
func (d Data) Single() (Samples, error) {
	if d.Names == nil {
		return d.Parts[0], nil
	}
	return nil, fmt.Errorf("the input has %d outputs, but one dataset is needed; name one of %v", len(d.Parts), d.Names)
}

// Output returns the output called name. If there is none, a number selects an output
// counted from 0, unless the names are numbers themselves, as those of groups may be.
func (d Data) Output(name string) (Data, error) {
	i, err := d.Find(name)
	if err != nil {
		return Data{}, err
	}
	return One(d.Parts[i]), nil
}

// Find returns the index of the part that [Data.Output] returns.
func (d Data) Find(name string) (int, error) {
	if d.Names == nil {
		return 0, fmt.Errorf("the node has a single output; leave out %q", "."+name)
	}
	if i := slices.Index(d.Names, name); i >= 0 {
		return i, nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(d.Names) && !slices.ContainsFunc(d.Names, isNumber) {
		return i, nil
	}
	return 0, fmt.Errorf("there is no output %q%s", name, Suggest(name, d.Names))
}

func isNumber(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil
}
