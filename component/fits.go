package component

import (
	"context"
	"errors"

	"github.com/larder-data/larder/dataset"
)

// ErrUnfit marks errors of a sink that cannot hold what it is given.
var ErrUnfit = errors.New("the sink cannot hold it")

// Unfit marks an error as an ErrUnfit.
func Unfit(err error) error { return unfit{err} }

type unfit struct{ error }

func (u unfit) Unwrap() []error { return []error{u.error, ErrUnfit} }

// A Fitter is a parameter struct of a sink that can tell beforehand whether it can
// hold a sample. Of items that are not cheap it looks at the names and at where they
// come from, and not at the values. What it cannot hold is an [ErrUnfit].
type Fitter interface {
	Fits(ctx context.Context, env *Env, s dataset.Sample, cheap func(f dataset.Field) bool) error
}
