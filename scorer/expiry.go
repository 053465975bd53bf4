package scorer

import (
	"time"
	"unicode/utf8"

	"hippocampus/internal/lang/times"
	"hippocampus/internal/memory"
	"hippocampus/scorer/voice"
)

// endsPattern matches plans that are over after their day. lastsPattern matches what begins on that day, comes again or
// has happened, and conjunctions, which may add more than a plan. predicate matches clauses that state something.
var (
	endsPattern = expression(`\b(?:flights?|fly|flying|appointment|meeting|interview|exam|deadline|due (?:on|by)|` +
		`concert|conference|workshop|surgery|reservation|check-?up|rehearsal|presentation|trip)\b|` +
		`航班|飞机|高铁|预约|约了|开会|会议|面试|考试|截止|音乐会|演唱会|体检|手术|出差|复查|答辩`)
	lastsPattern = expression(`\b(?:every|each|weekly|daily|monthly|yearly|annual(?:ly)?|usually|always|birthday|` +
		`anniversary|since|born|start(?:s|ing|ed)?|begin(?:s|ning)?|began|moves?|moving|joins?|joining|marr\w+|wedding|` +
		`retir\w+|graduat\w+|until|till|from now|had|was|were|went|did|took|attended|back|finished|passed|failed|missed|` +
		`cancell?ed|and|but|because|while)\b|;|` +
		`每[天周月年个]|生日|纪念日|开始|入职|搬|结婚|婚礼|入学|毕业|退休|通常|经常|一直|直到|刚|取消|[开去考坐看做加]了|过了|完了|` +
		`；|[，、](?:但|而|因|所以|也|还)`)
	predicate = expression(`^\W*(?:i|my|we|our|he|his|she|her|they|their|you|your)\b|` +
		`\b(?:are|can|cannot|do|does|eats?|drinks?|drives?|go|goes|has|hates?|have|is|keeps?|knows?|likes?|lives?|` +
		`loves?|must|needs?|owns?|plays?|prefers?|speaks?|studies|takes?|teaches|uses?|wants?|wears?|will|works?)\b|` +
		`\w's \w|n't\b|` +
		`^\W*(?:我|他|她|它|你|咱)|是|有|喜欢|讨厌|过敏`)
	clauseEnd = expression(`[,:，、：]|\s[-–—]\s`)
)

// Plan is a sentence of the user that states a dated plan, such as a flight, and when that is over.
type Plan struct {
	Content string
	Ends    time.Time
}

// Plans returns the dated plans that a message of the user states in the user's own words, in their order. The message
// was said at an instant, whose zone is the user's.
func Plans(message string, at time.Time) (plans []Plan) {
	message = firstRunes(message, maxReadRunes)
	if !endsPattern.MatchString(message) {
		return nil
	}
	for _, span := range voice.Spans(message) {
		if span.Kind != voice.Own {
			continue
		}
		for _, sentence := range sentences(span.Text) {
			if utf8.RuneCountInString(sentence) > maxSentenceRunes || question.MatchString(apostrophes.Replace(sentence)) {
				continue
			}
			if end := planEnd(sentence, at); !end.IsZero() {
				plans = append(plans, Plan{sentence, end})
			}
		}
	}
	return plans
}

// planEnd returns when a dated plan is over that was stated at an instant: at the end of the last day that it names, in
// the zone of the instant. It is zero for what is no plan, is not dated, or is over already.
func planEnd(said string, at time.Time) (end time.Time) {
	plain := apostrophes.Replace(said)
	if !endsPattern.MatchString(plain) || lastsPattern.MatchString(plain) || saysMore(plain, at) {
		return time.Time{}
	}
	today := memory.EndOfDay(at).AddDate(0, 0, -1)
	for _, span := range times.InStatement(plain, at) {
		if span.From.Before(today) {
			return time.Time{}
		}
		if last := memory.EndOfDay(span.Until.Add(-time.Microsecond)); last.After(end) {
			end = last
		}
	}
	return end
}

// saysMore reports whether a statement with a plan has a clause that states something else, such as "I'm allergic to
// latex, surgery is on 4 April".
func saysMore(plain string, at time.Time) bool {
	for _, clause := range clauseEnd.Split(plain, -1) {
		if predicate.MatchString(clause) && !endsPattern.MatchString(clause) && len(times.InStatement(clause, at)) == 0 {
			return true
		}
	}
	return false
}

// endOf returns the end of the day on which a statement ends according to a model, in the zone of the instant at which
// it was said. ok is false unless the statement names that day, and it is not over already.
func endOf(content, day string, at time.Time) (end time.Time, ok bool) {
	last, err := time.ParseInLocation(time.DateOnly, day, at.Location())
	if err != nil {
		return time.Time{}, false
	}
	if end = memory.EndOfDay(last); !end.After(at) {
		return time.Time{}, false
	}
	for _, span := range times.InStatement(content, at) {
		if !last.Before(memory.EndOfDay(span.From).AddDate(0, 0, -1)) && last.Before(span.Until) {
			return end, true
		}
	}
	return time.Time{}, false
}
