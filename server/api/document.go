package api

import (
	"bytes"
	_ "embed"
	"sync"

	"hippocampus/server/frame"
)

//go:embed openapi.yaml
var openAPI []byte

// Document returns openapi.yaml.
func Document() []byte { return bytes.Clone(openAPI) }

//go:generate go run ./genrequests

// requests is what openapi.yaml says about the requests of each route.
//
//go:embed requests.json
var requests []byte

var loadContract = sync.OnceValues(func() (*frame.Contract, error) { return frame.NewContract(requests) })
