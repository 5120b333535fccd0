package rewrite

import (
	"reflect"

	"github.com/larder-data/larder/component"
)

// A setting changes parameters of a name and a kind.
type setting struct {
	name string
	kind reflect.Kind
	to   func(v reflect.Value)
	// fits leaves a parameter unchanged if the new value would make the
	// parameters invalid.
	fits bool
}

// change returns changed parameters, including those of nested mappers. found
// reports whether there are any.
func (s setting) change(c *component.Component, params any) (changed any, found bool) {
	v := reflect.New(c.Type).Elem()
	v.Set(reflect.ValueOf(params))
	for _, p := range c.Params {
		f := v.Field(p.Field)
		switch steps := f.Interface().(type) {
		case component.Step:
			found = s.changeSteps([]component.Step{steps}, f) || found
		case []component.Step:
			found = s.changeSteps(steps, f) || found
		default:
			if p.Name == s.name && f.Kind() == s.kind {
				s.set(c, v, f)
				found = true
			}
		}
	}
	return v.Interface(), found
}

func (s setting) set(c *component.Component, params, field reflect.Value) {
	was := reflect.New(field.Type()).Elem()
	was.Set(field)
	right := c.Check(params.Interface()) == nil
	s.to(field)
	if s.fits && right && c.Check(params.Interface()) != nil {
		field.Set(was)
	}
}

// changeSteps sets a parameter to steps whose parameters are changed.
func (s setting) changeSteps(steps []component.Step, in reflect.Value) (found bool) {
	all := make([]component.Step, len(steps))
	for i, step := range steps {
		if all[i] = step; step.Component != nil {
			var has bool
			all[i].Params, has = s.change(step.Component, step.Params)
			found = found || has
		}
	}
	if in.Kind() == reflect.Slice {
		in.Set(reflect.ValueOf(all))
	} else {
		in.Set(reflect.ValueOf(all[0]))
	}
	return found
}
