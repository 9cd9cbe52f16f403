"""Small files in the layouts of published evaluation data."""

RUSSE = (
    "context_id\tword\tgold_sense_id\tpredict_sense_id\tpositions\tcontext\n"
    '1\tbank\t1\t2\t5-9, 14-18\tcash bank "x\n2\tbank\t2\t\t4-8\tthe bank there\n'
)
RUSSE_HEADER = RUSSE.split("\n")[0] + "\n"
TWSI = (
    "context_id\ttarget\ttarget_pos\ttarget_position\tgold_sense_ids\tpredict_sense_ids\tgolden_related\tcontext\n"
    "7\tbank\tn\t4,9\tb@1/4,b@2/2\t\tx,y\tthe banks there\n"
)


def scws_line(number, word1, word2, context1, context2, rating):
    """A line of ratings.txt; the words stand between <b> and </b> in their contexts."""
    fields = [number, word1, "n", word2, "n", context1, context2, rating, *[rating] * 10]
    return "\t".join(str(field) for field in fields) + "\n"
