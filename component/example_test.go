package component_test

import (
	"fmt"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/order"
)

// Odd is a custom operator. Its fields are its parameters.
type Odd struct {
	Offset int `param:"offset" doc:"the first position" default:"1"`
}

func (o Odd) order(n int) (order.Order, error) {
	step := 2
	return order.Slice(n, &o.Offset, nil, &step)
}

func init() {
	component.RegisterOrder("odd", "Passes on every second sample.", Odd.order)
}

// Find a registered operator by its name, as flow files and the command line do.
func Example() {
	c, err := component.Find(component.Op, "odd")
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Kind, c.Name+":", c.Doc)
	for _, p := range c.Params {
		fmt.Println(p.Name+":", p.Doc+", default", p.Default)
	}
	_, err = component.Find(component.Op, "od")
	fmt.Println(err)
	// Output:
	// op odd: Passes on every second sample.
	// offset: the first position, default 1
	// there is no op "od"; did you mean "odd"?
}
