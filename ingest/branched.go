package ingest

import "time"

// Fewest messages by which a report is recognised as the client's list, although the log does not end with them.
const (
	leastOfBeginning = 3 // from the first message of the conversation on
	leastOfWindow    = 6 // from any message on
)

// followed returns how many of the first messages of a report the log has in the same order. Between them, the log may
// have messages that the client's list lacks since the client has edited or deleted them, or an answer was generated
// again. Few messages do not count: the user may say them again. A report without any other message was repeated only
// within an hour after the last turn.
func (s *said) followed(reported []event, at time.Time) (most int) {
	log := spokenOf(s.events)
	for start, e := range log {
		if !e.equals(reported[0]) {
			continue
		}
		n, least := 0, leastOfWindow
		if start == 0 && int64(len(s.events)) == s.log.Events {
			least = leastOfBeginning
		}
		for _, e := range log[start:] {
			if n < len(reported) && e.equals(reported[n]) {
				n++
			}
		}
		if n == len(reported) && at.Sub(s.at) > sameOccasion {
			least = leastOfWindow
		}
		if n >= least {
			most = max(most, n)
		}
	}
	return most
}
