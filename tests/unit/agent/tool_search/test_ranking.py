"""What is found by which words, in four languages."""

from pathlib import Path

import pytest

from hermes_jupyter.agent.tool_search.index import ToolIndex, ToolText

CATALOGS = Path(__file__).parent / "catalogs"
"""One tool a line: its name, and what it does."""
LANGUAGES = ("english", "chinese", "japanese", "korean")


def tools_of(language):
    lines = (CATALOGS / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    for name, description in (line.split(" | ") for line in lines):
        yield ToolText(name=name, source=name.split("_")[0], description=description)


FIRST = {
    "english": """
        send a message to a slack channel | slack_post_message
        open pull request | github_create_pull_request
        createBranch | github_createBranch
        create branch | github_createBranch
        what is the weather going to be tomorrow | weather_forecast
        refund customer | stripe_create_refund
        kuberntes pod logs | kubernetes_get_logs
        restart a pod | kubernetes_delete_pod
        upload file to s3 bucket | s3_put_object
        sql query | postgres_query
        list tables | postgres_list_tables
        schedule meeting with guests | calendar_create_event
        cancel the appointment | calendar_delete_event
        sending an e-mail | gmail_send_email
        transcription of recording | audio_transcribe
        speech to text | audio_transcribe
        generate an image | image_generate
        resizing pictures | image_resize
        repo file contents | github_get_file_contents
        commit histroy | github_list_commits
        exchange rate currencies | currency_convert
        extract tables from a PDF | pdf_extract_tables
        turn on the lights | homeassistant_turn_on_light
        screenshot | browser_screenshot
        virtual machine shutdown | ec2_stop_instances
        start vm instances | ec2_start_instances
        ticket comment | jira_add_comment
        infra changes preview | terraform_plan
        RedisGetKey | redis_get_key
        translation | translate_text
        latency metrics | datadog_query_metrics
        ｓｌａｃｋ　ｅｍｏｊｉ | slack_add_reaction
        docker image build | docker_build_image
        geocoding addresses | maps_geocode
    """,
    "chinese": """
        发送消息 | xiaoxi_fasong
        删除文件 | wenjian_shanchu
        明天北京的天气怎么样 | tianqi_yubao
        查快递 | kuaidi_chaxun
        订一张去上海的机票 | jipiao_yuding
        翻译这篇文档 | wendang_fanyi
        SQL查询 | shujuku_chaxun
        ＳＱＬ语句 | shujuku_chaxun
        恢复数据库备份 | shujuku_huifu
        重启服务器 | fuwuqi_chongqi
        看日志 | fuwuqi_rizhi
        退款 | zhifu_tuikuan
        开发票 | fapiao_kaiju
        图片文字识别 | tupian_shibie
        画柱状图 | tubiao_huizhi
        录音转文字 | yuyin_shibie
        关灯 | dengguang_kongzhi
        空调调到26度 | kongtiao_kongzhi
        取消会议 | richeng_quxiao
        代码审查 | daima_shencha
        合并分支 | daima_hebing
        股票价格 | gupiao_hangqing
        生成密码 | mima_shengcheng
        火车票 | huoche_chepiao
        附近有什么餐厅 | ditu_zhoubian
        解压文件 | wenjian_jieya
    """,
    "japanese": """
        ファイル削除 | fairu_sakujo
        ﾌｧｲﾙの検索 | fairu_kensaku
        明日の天気を教えて | tenki_yohou
        議事録 | gijiroku_sakusei
        会議室の予約 | kaigishitsu_yoyaku
        予定をキャンセル | yotei_torikeshi
        荷物の追跡 | takuhai_tsuiseki
        請求書を発行したい | seikyuusho_hakkou
        SQLの実行 | database_toiawase
        サーバの再起動 | server_saikidou
        ログを見る | server_log
        プルリクエストのレビュー | code_review
        文書を英語に翻訳 | bunsho_honyaku
        要約して | bunsho_youyaku
        棒グラフ | graph_byouga
        画像の文字認識 | gazou_moji
        音声の文字起こし | onsei_ninshiki
        部屋の照明を消す | shoumei_sousa
        エアコンの温度 | eakon_settei
        電車の乗り換え | norikae_annai
        在庫を更新 | zaiko_koushin
        バックアップから復元 | backup_fukugen
        つぶやく | tsubuyaki_toukou
        ホテル予約 | hoteru_yoyaku
        株価 | kabuka_shutoku
        圧縮ファイルの解凍 | fairu_kaitou
        不具合の報告 | issue_touroku
    """,
    "korean": """
        파일 삭제 | pail_sakje
        파일을 삭제해 주세요 | pail_sakje
        내일 날씨 | nalssi_yebo
        회의실 예약 | hoeuisil_yeyak
        회의록 | hoeuirok_jakseong
        회의 취소 | iljeong_chwiso
        택배 어디까지 왔는지 배송 추적 | taekbae_jochoe
        환불 | hwanbul_cheori
        돈 송금 | songgeum
        SQL 쿼리 | deiteo_jirui
        서버 재시작 | seobeo_jaesijak
        서버 로그 | seobeo_rogeu
        코드 검토 | kodeu_geomto
        브랜치 병합 | beuraenchi_byeonghap
        문서를 영어로 번역 | munseo_beonyeok
        글 요약 | munseo_yoyak
        맞춤법 검사 | matchumbeop
        막대 그래프 | geuraepeu
        이미지 생성 | geurim_saengseong
        이미지에서 글자 인식 | geurim_munja
        녹음을 글로 | eumseong_insik
        주식 시세 | jusik_siseong
        조명 끄기 | jomyeong_jeeo
        에어컨 | eeokeon_jeeo
        지하철 환승 | jihacheol_gyeongno
        백업 복원 | baegeop_bokwon
        비밀번호 만들기 | bimilbeonho
        책 | chaek_chucheon
    """,
}
AMONG_THREE = {
    "english": """
        jira | jira_create_ticket
        emails from my boss | gmail_trash_message
    """,
    "chinese": """
        请帮我给团队发一条消息 | xiaoxi_fasong
        票 | huoche_chepiao
    """,
    "japanese": """
        メッセージを送る | message_soushin
        ﾒｯｾｰｼﾞ送信 | message_soushin
    """,
    "korean": """
        메시지 보내기 | mesiji_jeonsong
        메시지를 보내 줘 | mesiji_jeonsong
    """,
}
INDEXES = {language: ToolIndex(tools_of(language)) for language in LANGUAGES}
TOGETHER = ToolIndex(tool for language in LANGUAGES for tool in tools_of(language))


def rows(table):
    lines = ((language, line) for language in table for line in table[language].splitlines())
    cases = [(language, *line.strip().split(" | ")) for language, line in lines if line.strip()]
    return [pytest.param(*case, id=case[1]) for case in cases]


def found(index, query, limit):
    return [tool.name for tool in index.search(query, limit)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_many_to_be_confused_with(language):
    assert len(INDEXES[language].tools) >= 60


@pytest.mark.parametrize(("language", "query", "name"), rows(FIRST))
def test_the_first_match_is_the_one_that_is_meant(language, query, name):
    assert found(INDEXES[language], query, 5)[:1] == [name]


@pytest.mark.parametrize(("language", "query", "name"), rows(AMONG_THREE))
def test_it_is_among_the_first_three_where_words_alone_do_not_decide(language, query, name):
    assert name in found(INDEXES[language], query, 3)


@pytest.mark.parametrize(("language", "query", "name"), rows(FIRST))
def test_tools_in_other_languages_do_not_come_between(language, query, name):
    assert name in found(TOGETHER, query, 3)


def test_letters_that_are_composed_of_others_are_the_same():
    assert found(INDEXES["korean"], "\u1112\u1169\u1110\u1166\u11af", 1) == ["hotel_yeyak"]
