package dataset

import "context"

// A Place is where in a flow a maker is run: what to call it for people. No result may
// depend on it.
type Place struct {
	Node  string
	Index int // of the sample in the node
}

type placeKey struct{}

func withPlaces(ctx context.Context, all ...Place) context.Context {
	return context.WithValue(ctx, placeKey{}, all)
}

// PlacesOf returns the places of all samples that the maker is run on under ctx, in
// their order. They are not to be changed.
func PlacesOf(ctx context.Context) []Place {
	all, _ := ctx.Value(placeKey{}).([]Place)
	return all
}
