package e2e

import (
	"slices"
	"strings"
	"testing"
)

// Statements in a language that the rules do not know are kept as messages, and a question in their language finds them
// among the first two. Without a model, questions and requests in such a language are no facts.
func TestLanguages_WithoutRulesAreKeptAndFound(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, c := range map[string]struct{ statements, others string }{
			"korean": {
				`저는 부산 해운대에 살아요.|저는 지금 해운대에 사나요?
				제 여동생 이름은 지수예요.|여동생 이름이 뭐예요?
				저는 땅콩 알레르기가 있어요.|제 알레르기는 무엇인가요?
				저는 병원에서 간호사로 일해요.|제가 일하는 병원은 어디예요?
				우리 강아지 이름은 보리예요.|강아지 이름이 뭐예요?
				저는 매주 토요일에 등산을 가요.|등산은 언제 가요?
				저는 작년에 결혼했어요.|언제 결혼했어요?
				제 생일은 5월 12일이에요.|생일이 언제예요?
				저는 고기를 먹지 않아요.|고기를 먹나요?`,
				`오늘 날씨가 어때요?
				이 문장을 영어로 번역해 주세요: 나는 서울에 산다.
				안녕하세요, 반갑습니다!
				파이썬에서 리스트를 정렬하는 방법을 알려 주세요.
				감사합니다, 도움이 됐어요.`,
			},
			"vietnamese": {
				`Tôi sống ở Đà Nẵng, gần cầu Rồng.|Tôi sống gần cầu nào?
				Em gái tôi tên là Lan.|Em gái tôi tên là gì?
				Tôi bị dị ứng với đậu phộng.|Tôi bị dị ứng với gì?
				Tôi làm y tá ở bệnh viện.|Tôi làm gì ở bệnh viện?
				Con chó của tôi tên là Mực.|Con chó của tôi tên là gì?
				Tôi đi leo núi mỗi thứ bảy.|Tôi đi leo núi khi nào?
				Tôi kết hôn năm ngoái.|Tôi kết hôn khi nào?
				Sinh nhật của tôi là ngày 12 tháng 5.|Sinh nhật của tôi là ngày nào?
				Tôi không ăn thịt.|Tôi có ăn thịt không?`,
				`Hôm nay thời tiết thế nào?
				Dịch câu này sang tiếng Anh: Tôi sống ở Hà Nội.
				Xin chào, rất vui được gặp bạn!
				Hãy cho tôi biết cách sắp xếp danh sách trong Python.
				Cảm ơn bạn nhiều nhé.`,
			},
		} {
			questions := map[string]string{} // by statement
			for line := range strings.Lines(c.statements) {
				statement, question, _ := strings.Cut(strings.TrimSpace(line), "|")
				questions[statement] = question
				s.call("POST", "/v1/turns", turn(user, statement), 200)
			}
			for other := range strings.Lines(c.others) {
				other = strings.TrimSpace(other)
				answer := s.call("POST", "/v1/turns", turn(user, other), 200)
				for _, candidate := range answer.list("candidates") {
					if candidate["verdict"] == "kept" {
						t.Errorf("%s: %q became a fact", user, candidate["content"])
					}
				}
			}
			for statement, question := range questions {
				ask := object{"user_id": user, "query": question, "touch": false}
				memories := s.call("POST", "/v1/recall", ask, 200).list("memories")
				if found := contentsIn(memories); !slices.Contains(found[:min(2, len(found))], any(statement)) {
					t.Errorf("%s finds %v first", question, found)
				}
			}
		}
	})
}

// contentsIn returns the contents of memories in their order.
func contentsIn(memories []object) (contents []any) {
	for _, m := range memories {
		contents = append(contents, m["content"])
	}
	return contents
}
