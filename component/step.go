package component

import (
	"reflect"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// A Step is a mapper with its parameters, as the parameter of another component. In a
// flow file it has the form of a node without inputs and options:
//
//	{map: image-resize, with: {width: 64}}
type Step struct {
	Component *Component // of kind Map
	Params    any        // a value of Component.Type
}

// AppendKey identifies the step: see [key.Keyer].
func (s Step) AppendKey(dst []byte) ([]byte, error) {
	if s.Component == nil {
		return dst, nil
	}
	d, err := key.Of([]any{s.Component.Name, s.Params})
	return append(dst, d[:]...), err
}

// Mapper builds the mapper.
func (s Step) Mapper(env *Env) (dataset.Mapper, error) { return s.Component.Mapper(env, s.Params) }

var stepType = reflect.TypeFor[Step]()

// IsStep reports whether t is [Step].
func IsStep(t reflect.Type) bool { return t == stepType }
