package main

import (
	"reflect"

	"github.com/larder-data/larder/component"
)

func newOf(c *component.Component) reflect.Value { return reflect.New(c.Type).Elem() }
