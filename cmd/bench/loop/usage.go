package loop

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"time"

	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// usage watches what processes use.
type usage struct {
	watched []*watched
	begin   time.Time
	took    time.Duration
	end     chan struct{}
	wait    sync.WaitGroup
	failed  error
}

type watched struct {
	name        string
	process     measure.Process
	first, last measure.Usage
	memory      int64 // the most
}

// readings is the time between two readings of memory.
const readings = 5 * time.Second

// watch reads the servers, their stores if they run on this machine, and this process,
// until stop is called.
func watch(servers []*target.Server) (*usage, error) {
	u := &usage{end: make(chan struct{})}
	for i, server := range servers {
		name := "server"
		if len(servers) > 1 {
			name = fmt.Sprint("server ", i+1)
		}
		u.watched = append(u.watched, &watched{name: name, process: server.Process()})
	}
	stores, err := servers[0].Stores.Processes()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Postgres", "Milvus"} {
		if process, found := stores[name]; found {
			u.watched = append(u.watched, &watched{name: name, process: process})
		}
	}
	u.watched = append(u.watched, &watched{name: "bench", process: measure.Process(os.Getpid())})
	if err := u.read(); err != nil {
		return nil, err
	}
	for _, w := range u.watched {
		w.first = w.last
	}
	u.begin = time.Now()
	u.wait.Go(func() {
		ticker := time.NewTicker(readings)
		defer ticker.Stop()
		for {
			select {
			case <-u.end:
				return
			case <-ticker.C:
				u.failed = cmp.Or(u.failed, u.read())
			}
		}
	})
	return u, nil
}

func (u *usage) read() (err error) {
	for _, w := range u.watched {
		if w.last, err = w.process.Usage(); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		w.memory = max(w.memory, w.last.Memory)
	}
	return nil
}

// stop reads the processes for the last time.
func (u *usage) stop() error {
	close(u.end)
	u.wait.Wait()
	u.took = time.Since(u.begin)
	return cmp.Or(u.failed, u.read())
}

// processes is what each process used for a number of turns.
func (u *usage) processes(turns int) []Process {
	list := make([]Process, len(u.watched))
	for i, w := range u.watched {
		used := w.last.CPU - w.first.CPU
		list[i] = Process{
			Name: w.name, Cores: used.Seconds() / u.took.Seconds(),
			CPU: used.Seconds() * 1000 / float64(max(1, turns)), Memory: w.memory,
		}
	}
	return list
}
