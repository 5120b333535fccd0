package dataset

import "context"

// A Place is the human-readable position of an execution in a flow. Results must not
// depend on it.
type Place struct {
	Node  string
	Index int // of the sample in the node
}

type placeKey struct{}

func withPlaces(ctx context.Context, all ...Place) context.Context {
	return context.WithValue(ctx, placeKey{}, all)
}

// PlacesOf returns the places of all samples that the transform processes under ctx, in
// their order. The slice must not be changed.
func PlacesOf(ctx context.Context) []Place {
	all, _ := ctx.Value(placeKey{}).([]Place)
	return all
}
