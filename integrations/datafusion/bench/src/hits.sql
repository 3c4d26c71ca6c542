select user_id from hits where user_id = 1583800
select * from hits where url like '%google%' order by event_time, watch_id limit 10
select url, count(*) as views from hits where counter_id = 62 and event_date between '2013-07-05' and '2013-07-20' and is_refresh = 0 and url <> '' group by url order by views desc, url limit 10
select title, count(*) as views from hits where counter_id = 62 and is_refresh = 0 and title <> '' group by title order by views desc, title limit 10
select search_phrase, event_time from hits where search_phrase <> '' order by event_time, search_phrase limit 10
select sum(width), count(distinct user_id) from hits where adv_engine_id = 17
select url, referer, title from hits where user_id in (79190, 7919000, 791900) and counter_id < 2000 order by url, referer, title
select date_trunc('minute', event_time) as minute, count(*) as views from hits where counter_id = 1500 and event_date between '2013-07-14' and '2013-07-15' and is_refresh = 0 group by minute order by minute limit 10
select * from hits where watch_id between 1000 and 1000000000000 order by watch_id
select referer, count(*) from hits where counter_id = 3900 and c10 < 100 group by referer order by 2 desc, 1 limit 10
