package target

import (
	"context"
	"errors"
	"slices"
)

// Servers run on the same stores.
type Servers []*Server

// StartServers starts n servers on the same stores. If cores are given, the i-th server
// runs on the i-th core alone.
func StartServers(ctx context.Context, o Options, n int, cores []int) (servers Servers, err error) {
	for i := range n {
		if len(cores) > 0 {
			o.Core = &cores[i%len(cores)]
		}
		server, err := Start(ctx, o)
		if err != nil {
			return nil, errors.Join(err, servers.Close())
		}
		servers = append(servers, server)
		o.Stores = server.Stores
	}
	return servers, nil
}

// Close shuts all servers down. The first one drops the stores.
func (s Servers) Close() error {
	var errs []error
	for _, server := range slices.Backward(s) {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}
