# Prints COUNT records like those of a persona set, JSON lines of about 1 kB each: Korean text made
# up of syllables, the same on every run. For figures of `muster pack` (docs/PERFORMANCE.md):
#   python3 bench/persona_records.py 1000000 > persona.jsonl
import json
import random
import sys

chance = random.Random(7)
FAMILY = "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민"
GIVEN = [a + b for a in "민서지현수예도하은준유진태성영경혜승재나윤소"
         for b in "준서연우민현진아영수희원호빈은경정환"]
PLACES = ("서울 부산 대구 인천 광주 대전 울산 세종 수원 성남 창원 청주 전주 천안 안산 포항 김해 제주 춘천 강릉 목포 여수 "
          "순천 경주 구미 진주 원주 군산 익산 평택").split()
JOBS = ("간호사 소방관 초등학교 교사|물류 창고 관리자|반도체 공정 기술자|제과점 주인|버스 기사|회계사|용접공|보험 설계사|농부|어부|"
        "미용사|번역가|공무원|약사|건축 설계사|음악 교사|자동차 정비사|요리사|연구원|사회복지사").split("|")
HOBBIES = ("등산 낚시 뜨개질 사진 독서 자전거 요가 축구 바둑 그림 노래 여행 요리 캠핑 글쓰기 달리기 수영 도자기 "
           "정원가꾸기 영화").split()
TRAITS = ("꼼꼼하고 조용한|말이 많고 다정한|고집이 세지만 정직한|호기심이 많은|걱정이 많은|느긋한|승부욕이 강한|유머 감각이 있는|"
          "규칙을 잘 지키는|혼자 있기를 좋아하는").split("|")
ENDS = ("살고 있다|일하고 있다|지내고 있다|보내고 있다|배우고 있다|가르치고 있다|준비하고 있다|"
        "생각하고 있다").split("|")
TAILS = "은 는 이 가 을 를 에 에서 으로 와 과 도 만 까지 부터 처럼 보다 의 에게 하고".split()
SYLLABLES = ("가나다라마바사아자차카타파하거너더러머버서어저고노도로모보소오조구누두루무부수우주그느드르므브스으즈기니디리미비시이지"
             "간산전선문분인진한안남담감")
STEMS = ["".join(chance.choice(SYLLABLES) for _ in range(chance.randint(1, 3)))
         for _ in range(30000)]


def sentence():
    words = [STEMS[min(int(chance.expovariate(1 / 1500)), len(STEMS) - 1)] + chance.choice(TAILS)
             for _ in range(max(4, int(chance.gauss(11, 3))))]
    return " ".join(words) + " " + chance.choice(ENDS) + "."


def record():
    age = chance.randint(19, 84)
    name = chance.choice(FAMILY) + chance.choice(GIVEN)
    text = [f"{name} 씨는 {age}세의 {chance.choice(TRAITS)} {chance.choice(JOBS)}로, "
            f"{chance.choice(PLACES)}에서 {chance.choice(ENDS)}.",
            f"주말에는 {chance.choice(HOBBIES)}과 {chance.choice(HOBBIES)}을 즐기고, "
            f"{chance.choice(PLACES)}에 사는 가족을 {chance.randint(1, 12)}년째 돌본다."]
    wanted = max(200, chance.gauss(1000, 180))
    size = sum(len(part.encode()) for part in text)
    while size < wanted:
        text.append(sentence())
        size += len(text[-1].encode())
    return {"uuid": f"{chance.getrandbits(128):032x}", "text": " ".join(text), "age": age}


for _ in range(int(sys.argv[1])):
    sys.stdout.write(json.dumps(record(), ensure_ascii=False) + "\n")
