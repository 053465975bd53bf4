package target

import (
	"time"

	"hippocampus/cmd/bench/measure"
)

// Process is the server's process.
func (s *Server) Process() measure.Process { return measure.Process(s.cmd.Process.Pid) }

// CPU is the processor time that the server has used so far.
func (s *Server) CPU() (time.Duration, error) { return s.Process().CPU() }

// Resident is the resident memory of the server, in bytes.
func (s *Server) Resident() (int64, error) { return s.Process().Resident() }
