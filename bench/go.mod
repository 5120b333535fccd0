module github.com/larder-data/larder/bench

go 1.26.0

require (
	github.com/hashicorp/golang-lru/v2 v2.0.7
	github.com/larder-data/larder v0.0.0
	github.com/maypok86/otter/v2 v2.4.0
)

replace github.com/larder-data/larder => ../
