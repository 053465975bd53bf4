module hippocampus/sdk/go

go 1.26.0

require (
	github.com/google/uuid v1.6.0
	github.com/oapi-codegen/runtime v1.8.0
	go.uber.org/goleak v1.3.0
)

require github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
